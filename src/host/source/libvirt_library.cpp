// SPDX-License-Identifier: Apache-2.0
// libvirt's C library, which is loaded when it is needed: `sukima` runs on machines without it. Its header is
// needed where this is built; SUKIMA_HAS_LIBVIRT says whether it was there.
#include "source/libvirt.hpp"

#ifdef SUKIMA_HAS_LIBVIRT
#include <dlfcn.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include <algorithm>
#include <cstdlib>

#include "source/files.hpp"
#include "source/names.hpp"

namespace sukima::host {
namespace {

/// The functions of the library, with the types of its header.
struct library {
  // clang-format off
#define SUKIMA_LIBVIRT_FUNCTIONS(F) \
  F(virConnectOpenReadOnly) F(virConnectClose) F(virConnectIsAlive) \
  F(virConnectGetType) F(virConnectGetAllDomainStats) F(virDomainStatsRecordListFree) \
  F(virDomainGetName) F(virDomainGetUUIDString) F(virDomainGetID) \
  F(virDomainGetVcpus) F(virDomainGetVcpusFlags) F(virDomainGetSchedulerType) \
  F(virDomainGetSchedulerParameters) F(virNodeGetCPUMap) F(virGetLastErrorMessage) \
  F(virSetErrorFunc)
  // clang-format on
#define SUKIMA_DECLARE(name) decltype(&::name) name = nullptr;
  SUKIMA_LIBVIRT_FUNCTIONS(SUKIMA_DECLARE)
#undef SUKIMA_DECLARE

  /// \throws source_error if it is not there
  library() {
    // It is never closed: its threads and exit handlers stay.
    void* const handle = dlopen("libvirt.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      throw source_error("libvirt is not installed on this machine: apt-get install libvirt0, or use --qmp");
#define SUKIMA_FIND(name)                                        \
  name = reinterpret_cast<decltype(name)>(dlsym(handle, #name)); \
  if (name == nullptr) throw source_error("libvirt.so.0 has no " #name "; install libvirt 1.2.8 or newer");
    SUKIMA_LIBVIRT_FUNCTIONS(SUKIMA_FIND)
#undef SUKIMA_FIND
#undef SUKIMA_LIBVIRT_FUNCTIONS
    // Without this it prints each error.
    virSetErrorFunc(nullptr, [](void*, virErrorPtr) {});
  }
};

std::string text_of(const virTypedParameter& one) {
  switch (one.type) {
    case VIR_TYPED_PARAM_INT:
      return std::to_string(one.value.i);
    case VIR_TYPED_PARAM_UINT:
      return std::to_string(one.value.ui);
    case VIR_TYPED_PARAM_LLONG:
      return std::to_string(one.value.l);
    case VIR_TYPED_PARAM_ULLONG:
      return std::to_string(one.value.ul);
    case VIR_TYPED_PARAM_DOUBLE:
      return std::to_string(one.value.d);
    case VIR_TYPED_PARAM_BOOLEAN:
      return one.value.b != 0 ? "1" : "0";
    case VIR_TYPED_PARAM_STRING:
      return one.value.s != nullptr ? one.value.s : "";
    default:
      return "";
  }
}

class loaded_libvirt final : public libvirt_calls {
 public:
  explicit loaded_libvirt(std::string uri) : uri_(std::move(uri)) {}
  ~loaded_libvirt() override { close(); }
  loaded_libvirt(const loaded_libvirt&) = delete;
  loaded_libvirt& operator=(const loaded_libvirt&) = delete;

  libvirt_answer read() override {
    connect();
    libvirt_answer answer;
    virDomainStatsRecordPtr* records = nullptr;
    const unsigned wanted = VIR_DOMAIN_STATS_STATE | VIR_DOMAIN_STATS_CPU_TOTAL | VIR_DOMAIN_STATS_VCPU;
    const int count = library_.virConnectGetAllDomainStats(
        connection_, wanted, &records,
        VIR_CONNECT_GET_ALL_DOMAINS_STATS_ACTIVE | VIR_CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT);
    if (count < 0) {
      const std::string why = last_error();
      close();
      throw source_error("libvirt at " + uri_ + " cannot say what its domains do: " + why);
    }
    answer.read_at = steady_seconds();
    for (int i = 0; i < count; ++i) answer.domains.push_back(record_of(*records[i]));
    library_.virDomainStatsRecordListFree(records);
    const char* const type = library_.virConnectGetType(connection_);
    const std::string_view driver = type != nullptr ? type : "";
    // Another machine's CPUs, or made-up ones. A URI names another machine by "+ssh" and the like, or by a
    // host.
    if (driver == "TEST" || uri_.find("+") < uri_.find(":") || uri_.find(":///") == std::string::npos)
      answer.pcpus = pcpus();
    if (!tunable_)
      answer.notes.push_back("libvirt at " + uri_ +
                             " does not tell weights and caps; as root, qemu:///system does");
    return answer;
  }

 private:
  std::string last_error() const {
    const char* const text = library_.virGetLastErrorMessage();
    return printable_name(text != nullptr ? text : "no reason given");
  }

  void connect() {
    if (connection_ != nullptr && library_.virConnectIsAlive(connection_) == 1) return;
    close();
    connection_ = library_.virConnectOpenReadOnly(uri_.c_str());
    if (connection_ == nullptr)
      throw source_error("libvirt cannot be reached at " + uri_ + ": " + last_error() +
                         "; start libvirtd, or give another URI with --connect");
  }

  void close() {
    if (connection_ != nullptr) library_.virConnectClose(connection_);
    connection_ = nullptr;
  }

  domain_record record_of(const virDomainStatsRecord& from) {
    domain_record result;
    const char* const name = library_.virDomainGetName(from.dom);
    result.name = name != nullptr ? name : "";
    char uuid[VIR_UUID_STRING_BUFLEN] = "";
    if (library_.virDomainGetUUIDString(from.dom, uuid) == 0) result.uuid = uuid;
    const unsigned run = library_.virDomainGetID(from.dom);
    if (run != static_cast<unsigned>(-1)) result.run = std::to_string(run);
    for (int i = 0; i < from.nparams; ++i) result.statistics[from.params[i].field] = text_of(from.params[i]);
    take_scheduler(from.dom, result);
    take_vcpus(from.dom, result);
    return result;
  }

  void take_scheduler(virDomainPtr domain, domain_record& result) {
    int count = 0;
    char* const type = library_.virDomainGetSchedulerType(domain, &count);
    tunable_ = type != nullptr;
    if (type == nullptr) return;
    result.scheduler = type;
    free(type);
    if (count <= 0) return;
    std::vector<virTypedParameter> parameters(static_cast<std::size_t>(count));
    if (library_.virDomainGetSchedulerParameters(domain, parameters.data(), &count) != 0) {
      tunable_ = false;
      return;
    }
    for (int i = 0; i < count; ++i) {
      const virTypedParameter& one = parameters[static_cast<std::size_t>(i)];
      result.parameters[one.field] = text_of(one);
      if (one.type == VIR_TYPED_PARAM_STRING) free(one.value.s);
    }
  }

  void take_vcpus(virDomainPtr domain, domain_record& result) const {
    const int count = library_.virDomainGetVcpusFlags(domain, VIR_DOMAIN_AFFECT_LIVE);
    if (count <= 0 || static_cast<std::size_t>(count) > most_vcpus) return;
    constexpr std::size_t map_bytes = most_pcpus / 8;
    std::vector<virVcpuInfo> infos(static_cast<std::size_t>(count));
    std::vector<unsigned char> maps(infos.size() * map_bytes);
    const int known = library_.virDomainGetVcpus(domain, infos.data(), count, maps.data(), map_bytes);
    for (int i = 0; i < known; ++i) {
      const virVcpuInfo& info = infos[static_cast<std::size_t>(i)];
      domain_vcpu one;
      one.id = info.number;
      if (info.cpu >= 0 && static_cast<std::uint32_t>(info.cpu) <= most_id)
        one.last_pcpu = static_cast<std::uint32_t>(info.cpu);
      const unsigned char* const map = maps.data() + static_cast<std::size_t>(i) * map_bytes;
      for (std::uint32_t cpu = 0; cpu < most_pcpus; ++cpu)
        if ((map[cpu / 8] >> (cpu % 8) & 1) != 0) one.hard.push_back(cpu);
      result.vcpus.push_back(std::move(one));
    }
  }

  std::vector<std::uint32_t> pcpus() const {
    std::vector<std::uint32_t> ids;
    unsigned char* map = nullptr;
    unsigned online = 0;
    const int count = library_.virNodeGetCPUMap(connection_, &map, &online, 0);
    for (int cpu = 0; cpu < count && ids.size() < most_pcpus; ++cpu)
      if ((map[cpu / 8] >> (cpu % 8) & 1) != 0) ids.push_back(static_cast<std::uint32_t>(cpu));
    free(map);
    if (ids.empty())
      throw source_error("libvirt at " + uri_ + " does not tell its host's CPUs: " + last_error());
    return ids;
  }

  library library_;
  std::string uri_;
  virConnectPtr connection_ = nullptr;
  bool tunable_ = true;
};

}  // namespace

std::unique_ptr<libvirt_calls> load_libvirt(const std::string& uri) {
  return std::make_unique<loaded_libvirt>(uri);
}

}  // namespace sukima::host

#else

namespace sukima::host {

std::unique_ptr<libvirt_calls> load_libvirt(const std::string& /*uri*/) {
  throw source_error(
      "this sukima was built without libvirt: install libvirt-dev and build it again, or use --qmp");
}

}  // namespace sukima::host

#endif
