// SPDX-License-Identifier: Apache-2.0
// Reads the members of a description that say what may be set of a virtual machine, and how to reach it.
#include <sys/un.h>

#include <algorithm>

#include "description/json_place.hpp"
#include "shared/steering.hpp"

namespace sukima::host {
namespace {

constexpr double most_pid = 4194304;  // the kernel's limit
constexpr std::size_t longest_path = 4095;  // the kernel's limit
constexpr const char* default_libvirt = "qemu:///system";

json object_of(const std::string& text) { return text.empty() ? json::object() : json::parse(text); }

pid_t process_of(const place& from) { return static_cast<pid_t>(from.whole(1, most_pid)); }

std::filesystem::path path_of(const place& from) {
  // Do not check the path as a name: the control group of a Kubernetes container has more characters than a
  // name may have.
  const std::string text = from.text();
  if (!text.starts_with('/')) from.fail("must be an absolute path");
  const bool printable =
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (text.size() > longest_path || !printable)
    from.fail("must be a path of at most 4095 characters without control characters");
  return text;
}

std::filesystem::path socket_of(const place& from) {
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  std::filesystem::path path = path_of(from);
  if (path.native().size() > longest)
    from.fail("must be the path of a socket, of at most " + std::to_string(longest) + " characters");
  return path;
}

/// Parses [least, most].
void read_bounds(const place& from, steering& into) {
  std::vector<std::size_t> both;
  from.each([&](const place& one) { both.push_back(one.whole(1, most_vcpus)); });
  if (both.size() != 2 || both[0] > both[1])
    from.fail("must be the lowest and the highest count, such as [1, 4]");
  into.least = static_cast<unsigned>(both[0]);
  into.most = static_cast<unsigned>(both[1]);
}

void read_vcpu_threads(const vm& one, const std::string& where, steering& into) {
  for (std::size_t i = 0; i < one.vcpus.size(); ++i) {
    const json members = object_of(one.vcpus[i].unknown);
    const place from(members, where + ".vcpus[" + std::to_string(i) + "]");
    if (from.given("thread")) into.vcpu_threads.push_back(process_of(from.member("thread")));
  }
  if (!into.vcpu_threads.empty() && into.vcpu_threads.size() != one.vcpus.size())
    place(json(), where + ".vcpus").fail("give 'thread' of each vCPU, or of none");
  if (!into.vcpu_threads.empty() && into.places > 0)
    place(json(), where + ".vcpus")
        .fail("leave 'thread' out: threads of vCPUs that are plugged in later are found by their names");
}

/// Reads how libvirt knows the machine.
void read_domain(const place& from, steering& into) {
  if (from.given("domain")) into.domain = from.member("domain").name();
  into.connect = from.given("connect") ? from.member("connect").name() : default_libvirt;
}

/// The number of vCPUs at the end that are offline. With `plug`, they may not exist yet.
std::size_t places_of(const vm& one) {
  const auto last =
      std::find_if(one.vcpus.rbegin(), one.vcpus.rend(), [](const vcpu& v) { return v.online; });
  return static_cast<std::size_t>(last - one.vcpus.rbegin());
}

steering read_steering(const vm& one, const std::string& where) {
  const json members = object_of(one.unknown);
  const place from(members, where);
  steering result;
  const auto allowed = one.act.value_or(std::vector<std::string>());
  result.threads = std::ranges::count(allowed, "threads") > 0;
  result.vcpus = std::ranges::count(allowed, "vcpus") > 0;
  result.cap = std::ranges::count(allowed, "cap") > 0;
  result.weight = std::ranges::count(allowed, "weight") > 0;
  result.most = static_cast<unsigned>(std::max<std::size_t>(1, one.vcpus.size()));
  if (from.given("pid")) result.process = process_of(from.member("pid"));
  if (from.given("port")) result.port = socket_of(from.member("port"));
  if (from.given("file")) result.file = path_of(from.member("file"));
  result.plug = std::ranges::count(allowed, "plug") > 0;
  if (from.given("monitor")) result.monitor = socket_of(from.member("monitor"));
  read_domain(from, result);
  if (result.plug && result.monitor.empty() == result.domain.empty())
    from.fail(
        "virtual CPUs are plugged in through 'monitor', the QMP socket of its QEMU, or 'domain', its name in "
        "libvirt: give one of them");
  if (result.plug) result.places = places_of(one);
  if (from.given("cgroup")) result.cgroup = path_of(from.member("cgroup"));
  if ((result.cap || result.weight) && result.cgroup.empty())
    from.fail("a cap or a weight is set through 'cgroup', the folder of its control group");
  read_vcpu_threads(one, where, result);
  if (from.given("bounds")) read_bounds(from.member("bounds"), result);
  if (result.vcpus && !result.threads && result.most > one.vcpus.size())
    from.member("bounds").fail("there are only " + std::to_string(one.vcpus.size()) + " vCPUs");
  if (!result.port.empty() && !result.file.empty()) from.fail("give 'port' or 'file', not both");
  if (!result.threads && !result.vcpus) return result;
  if (result.port.empty() && result.file.empty())
    from.fail("a machine with 'act' needs 'port', the Unix socket of its port, or 'file', to get its number");
  if (result.vcpus && !result.threads && result.port.empty())
    from.fail("virtual CPUs are switched through a 'port'; it has only a 'file'");
  if (!result.process) from.fail("a machine with 'act' needs 'pid', the process whose CPU time counts");
  return result;
}

}  // namespace

std::vector<steering> steering_of(const description& host) {
  std::vector<steering> all;
  for (std::size_t j = 0; j < host.vms.size(); ++j)
    all.push_back(read_steering(host.vms[j], "vms[" + std::to_string(j) + "]"));
  return all;
}

}  // namespace sukima::host
