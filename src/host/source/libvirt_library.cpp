// SPDX-License-Identifier: Apache-2.0
// Loads libvirt's C library when it is needed, because `sukima` also runs on machines without it.
// SUKIMA_HAS_LIBVIRT is defined if the library's header was found at build time; without it, all functions
// here throw.
#include "source/libvirt.hpp"

#ifdef SUKIMA_HAS_LIBVIRT
#include <dlfcn.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <base/shared/clock.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "source/domain_channel.hpp"
#include "source/files.hpp"
#include "source/names.hpp"

namespace sukima::host {
namespace {

/// The functions of the library, with the types of its header.
struct library {
  // clang-format off
#define SUKIMA_LIBVIRT_FUNCTIONS(F) \
  F(virConnectOpen) F(virConnectOpenReadOnly) F(virConnectClose) F(virConnectIsAlive) \
  F(virConnectGetType) F(virConnectGetAllDomainStats) F(virDomainStatsRecordListFree) \
  F(virDomainGetName) F(virDomainGetUUIDString) F(virDomainGetID) F(virDomainGetXMLDesc) \
  F(virDomainGetVcpus) F(virDomainGetVcpusFlags) F(virDomainGetSchedulerType) \
  F(virDomainGetSchedulerParameters) F(virDomainSetVcpusFlags) \
  F(virDomainLookupByName) F(virDomainLookupByUUIDString) \
  F(virDomainFree) F(virNodeGetCPUMap) F(virGetLastErrorMessage) \
  F(virSetErrorFunc)
  // clang-format on
#define SUKIMA_DECLARE(name) decltype(&::name) name = nullptr;
  SUKIMA_LIBVIRT_FUNCTIONS(SUKIMA_DECLARE)
#undef SUKIMA_DECLARE

  /// \throws source_error  the library is not installed, or too old
  library() {
    // The library is never closed, because its threads and exit handlers stay.
    void* const handle = dlopen("libvirt.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      throw source_error("libvirt is not installed on this machine: apt-get install libvirt0, or use --qmp");
#define SUKIMA_FIND(name)                                        \
  name = reinterpret_cast<decltype(name)>(dlsym(handle, #name)); \
  if (name == nullptr) throw source_error("libvirt.so.0 has no " #name "; install libvirt 1.2.8 or newer");
    SUKIMA_LIBVIRT_FUNCTIONS(SUKIMA_FIND)
#undef SUKIMA_FIND
#undef SUKIMA_LIBVIRT_FUNCTIONS
    // Without this, the library prints each error.
    virSetErrorFunc(nullptr, [](void*, virErrorPtr) {});
  }

  std::string last_error() const {
    const char* const text = virGetLastErrorMessage();
    return printable_name(text != nullptr ? text : "no reason given");
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
      const std::string why = library_.last_error();
      close();
      throw source_error("libvirt at " + uri_ + " cannot report the statistics of its domains: " + why);
    }
    answer.read_at = steady_seconds();
    for (int i = 0; i < count; ++i) answer.domains.push_back(record_of(*records[i]));
    library_.virDomainStatsRecordListFree(records);
    if (ports_.size() > answer.domains.size()) forget_ports(answer.domains);
    const char* const type = library_.virConnectGetType(connection_);
    const std::string_view driver = type != nullptr ? type : "";
    // Report the CPUs if they are another machine's, or made up. A URI refers to another machine by "+ssh"
    // and the like, or by a host name.
    if (driver == "TEST" || uri_.find("+") < uri_.find(":") || uri_.find(":///") == std::string::npos)
      answer.pcpus = pcpus();
    if (auto note = note_on_limits(answer.domains, uri_)) answer.notes.push_back(*std::move(note));
    return answer;
  }

 private:
  void connect() {
    if (connection_ != nullptr && library_.virConnectIsAlive(connection_) == 1) return;
    close();
    connection_ = library_.virConnectOpenReadOnly(uri_.c_str());
    if (connection_ == nullptr)
      throw source_error("libvirt cannot be reached at " + uri_ + ": " + library_.last_error() +
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
    take_port(from.dom, result);
    return result;
  }

  void take_scheduler(virDomainPtr domain, domain_record& result) {
    int count = 0;
    char* const type = library_.virDomainGetSchedulerType(domain, &count);
    result.hides_limits = type == nullptr;
    if (type == nullptr) return;
    result.scheduler = type;
    free(type);
    if (count <= 0) return;
    std::vector<virTypedParameter> parameters(static_cast<std::size_t>(count));
    if (library_.virDomainGetSchedulerParameters(domain, parameters.data(), &count) != 0) {
      result.hides_limits = true;
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

  /// Sets the port. It does not change while a domain runs, so its XML is read only once.
  void take_port(virDomainPtr domain, domain_record& result) {
    const auto [known, is_new] = ports_.try_emplace(result.uuid + " " + result.run);
    if (is_new) {
      char* const xml = library_.virDomainGetXMLDesc(domain, 0);
      if (xml == nullptr) {
        ports_.erase(known);  // ask again at the next reading
        return;
      }
      known->second = channel_path(xml);
      free(xml);
    }
    result.port = known->second;
  }

  /// Forgets the ports of domains that no longer run.
  void forget_ports(const std::vector<domain_record>& now) {
    std::erase_if(ports_, [&](const auto& one) {
      return std::ranges::none_of(
          now, [&](const domain_record& each) { return each.uuid + " " + each.run == one.first; });
    });
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
      throw source_error("libvirt at " + uri_ + " does not report its host's CPUs: " + library_.last_error());
    return ids;
  }

  library library_;
  std::string uri_;
  virConnectPtr connection_ = nullptr;
  std::map<std::string, std::string> ports_;  ///< of each running domain, by its UUID and its run
};

class loaded_domain final : public libvirt_domain {
 public:
  loaded_domain(std::string uri, std::string name) : uri_(std::move(uri)), name_(std::move(name)) {}
  ~loaded_domain() override { close(); }
  loaded_domain(const loaded_domain&) = delete;
  loaded_domain& operator=(const loaded_domain&) = delete;

  domain_vcpus vcpus() override {
    find();
    domain_vcpus result;
    const int present = library_.virDomainGetVcpusFlags(domain_, VIR_DOMAIN_AFFECT_LIVE);
    constexpr unsigned maximum = VIR_DOMAIN_VCPU_MAXIMUM;
    const int most = library_.virDomainGetVcpusFlags(domain_, maximum | VIR_DOMAIN_AFFECT_LIVE);
    if (present <= 0 || most < present || static_cast<std::size_t>(most) > most_vcpus)
      fail("does not report its number of virtual CPUs", library_.last_error());
    result.present = static_cast<unsigned>(present);
    result.most = static_cast<unsigned>(most);
    std::vector<virVcpuInfo> infos(result.present);
    const int known = library_.virDomainGetVcpus(domain_, infos.data(), present, nullptr, 0);
    for (int i = 0; i < known; ++i) {
      const virVcpuInfo& info = infos[static_cast<std::size_t>(i)];
      result.ran[info.number] = static_cast<double>(info.cpuTime) * 1e-9;
    }
    return result;
  }

  void plug(unsigned count) override {
    find();
    if (library_.virDomainSetVcpusFlags(domain_, count, VIR_DOMAIN_AFFECT_LIVE) != 0)
      fail("rejects " + std::to_string(count) + " virtual CPUs", library_.last_error());
  }

 private:
  /// \param why appended after a colon; empty: there is no further reason
  [[noreturn]] void fail(const std::string& problem, const std::string& why) {
    throw source_error("the domain " + printable_name(name_) + " of libvirt at " + uri_ + " " + problem +
                       (why.empty() ? "" : ": " + why));
  }

  /// Looks up the domain again.
  void find() {
    if (connection_ == nullptr || library_.virConnectIsAlive(connection_) != 1) {
      close();
      connection_ = library_.virConnectOpen(uri_.c_str());
      if (connection_ == nullptr)
        throw source_error("libvirt cannot be reached at " + uri_ + ": " + library_.last_error() +
                           "; start libvirtd, or give another 'connect'");
    }
    // Look it up each time: a handle keeps the data with which the domain was found, such as its number.
    forget_domain();
    const std::string& wanted = uuid_.empty() ? name_ : uuid_;
    domain_ = library_.virDomainLookupByUUIDString(connection_, wanted.c_str());
    if (domain_ == nullptr && uuid_.empty())
      domain_ = library_.virDomainLookupByName(connection_, name_.c_str());
    if (domain_ == nullptr) fail("does not exist", library_.last_error());
    const unsigned run = library_.virDomainGetID(domain_);
    if (run == static_cast<unsigned>(-1) || (!uuid_.empty() && run != run_)) fail("no longer runs", "");
    if (!uuid_.empty()) return;
    char uuid[VIR_UUID_STRING_BUFLEN] = "";
    if (library_.virDomainGetUUIDString(domain_, uuid) != 0) fail("has no UUID", library_.last_error());
    uuid_ = uuid;
    run_ = run;
  }

  void forget_domain() {
    if (domain_ != nullptr) library_.virDomainFree(domain_);
    domain_ = nullptr;
  }

  void close() {
    forget_domain();
    if (connection_ != nullptr) library_.virConnectClose(connection_);
    connection_ = nullptr;
  }

  library library_;
  std::string uri_, name_;
  virConnectPtr connection_ = nullptr;
  virDomainPtr domain_ = nullptr;
  std::string uuid_;  // of the domain that was found first
  unsigned run_ = 0;  // its number, which differs from one start to the next
};

}  // namespace

std::unique_ptr<libvirt_calls> load_libvirt(const std::string& uri) {
  return std::make_unique<loaded_libvirt>(uri);
}

std::unique_ptr<libvirt_domain> load_libvirt_domain(const std::string& uri, const std::string& name) {
  return std::make_unique<loaded_domain>(uri, name);
}

}  // namespace sukima::host

#else

namespace sukima::host {

namespace {

[[noreturn]] void fail(const char* instead) {
  throw source_error(
      std::string("this sukima was built without libvirt: install libvirt-dev and build it again, or use ") +
      instead);
}

}  // namespace

std::unique_ptr<libvirt_calls> load_libvirt(const std::string& /*uri*/) { fail("--qmp"); }

std::unique_ptr<libvirt_domain> load_libvirt_domain(const std::string& /*uri*/, const std::string& /*name*/) {
  fail("'monitor'");
}

}  // namespace sukima::host

#endif
