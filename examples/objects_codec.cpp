// SPDX-License-Identifier: Apache-2.0
// Messages with a codec, which objects in other processes can receive:
// SUKIMA_OBJECTS=processes ./objects_codec
#include <sukima/objects.hpp>
#include <sukima/transfer.hpp>

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

using sukima::objects::in;
using sukima::objects::out;

struct remark {
  std::string text;
};

/// A string holds a pointer, so its bytes cannot be copied into another process.
template <> struct sukima::codec<remark> {
  static void encode(const remark& one, std::vector<std::byte>& to) {
    for (const char letter : one.text) to.push_back(static_cast<std::byte>(letter));
  }
  static remark decode(std::span<const std::byte> from) {
    remark one;
    for (const std::byte letter : from) one.text.push_back(static_cast<char>(letter));
    return one;
  }
};
static_assert(sukima::can_travel<remark>);

int main(int argc, char** argv) {
  sukima::objects::program p(argc, argv);
  if (!p.is_child()) std::puts("the first process");  // the others run main as well, up to p.run()
  std::fflush(stdout);
  const auto remarks = p.stream<remark>("remarks");
  p.object("write", [](out<remark> to) { to.send({"a text of another process"}); }, remarks.out());
  p.object(
       "print",
       [](in<remark> from) {
         for (const remark& one : from) std::printf("%s\n", one.text.c_str());
       },
       remarks.in())
      .at_home();
  p.run();
}
