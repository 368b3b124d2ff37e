# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-reference.py on a small made-up header and tag file: check_reference_test.py SCRIPT"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()

HEADER = """#define F(x) \\
  void macro() { x; }
namespace sukima::detail {
void inner();
}  // namespace sukima::detail
namespace sukima {
/// A class.
template <class T> class box : base<T> {
 public:
  void member() {}
};
class forward;
template <class T> box(T) -> box<T>;
using number = int;
template <class F>
  requires detail::callable<F> && (sizeof(F) > 4)
[[gnu::always_inline]] inline auto call(F&& f, box<int> b = {}) {
  return f(b);
}
decltype(auto) last() noexcept;
}  // namespace sukima
extern "C" {
const char* sukima_text(int (*f)(void));
}
"""
NAMES = [("call", "g.html", "a1"), ("last", "g.html", "a2"), ("sukima_text", "g.html", "a3")]


class CheckReference(unittest.TestCase):
    def check(self, members, page='<a id="a1"> <a id="a2"> <a id="a3">', classes=("sukima::box< T >",), header=HEADER,
              file="a.hpp"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "headers/detail").mkdir(parents=True)
            (root / "headers/a.hpp").write_text(header, encoding="utf-8")
            (root / "headers/detail/b.hpp").write_text("namespace sukima {\nvoid hidden();\n}\n", encoding="utf-8")
            (root / "html").mkdir()
            (root / "html/g.html").write_text(page, encoding="utf-8")
            (root / "tag").write_text(
                f'<tagfile><compound kind="file"><name>{file}</name><path>/x/headers/</path>'
                "<filename>g.html</filename></compound>" + "".join(
                    f'<compound kind="class"><name>{c.replace("<", "&lt;")}</name><filename>g.html</filename></compound>'
                    for c in classes) + '<compound kind="group"><name>g</name>' + "".join(
                        f'<member kind="function"><name>{n}</name><anchorfile>{f}</anchorfile><anchor>{a}</anchor></member>'
                        for n, f, a in members) + "</compound></tagfile>", encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPT, root / "headers", root / "tag", root / "html"],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def test_complete(self):
        self.assertEqual(self.check(NAMES), (0, "4 functions and classes have a place in the reference\n"))

    def test_each_function_is_missed(self):
        for name in NAMES:
            code, output = self.check([n for n in NAMES if n != name])
            self.assertEqual((code, output.count("\n")), (1, 1))
            self.assertIn(f"a.hpp: the function {name[0]} has no page", output)

    def test_missing_anchor(self):
        code, output = self.check(NAMES, page='<a id="a1"> <a id="a3">')
        self.assertEqual(code, 1)
        self.assertIn("the function last", output)

    def test_missing_page(self):
        self.assertEqual(self.check([(n, "other.html", a) for n, _, a in NAMES])[0], 1)

    def test_missing_class(self):
        code, output = self.check(NAMES, classes=())
        self.assertEqual((code, output.count("the class box")), (1, 1))

    def test_header_without_page(self):
        code, output = self.check(NAMES, file="other.hpp")
        self.assertEqual((code, output), (
            1, "a.hpp: the header has no page in the reference; begin it with a comment that describes it\n"))

    def test_title_with_text(self):
        page = '<a id="a1"> <a id="a2"> <a id="a3"><dt>Complexity</dt><dd>constant</dd><dt>{}</dt>'
        self.assertEqual(self.check(NAMES, page=page.format("Complexity"))[0], 0)
        code, output = self.check(NAMES, page=page.format("Complexity one load"))
        self.assertEqual(code, 1)
        self.assertIn("g.html: the title of the paragraph 'Complexity one load' contains its text", output)

    def test_no_headers(self):
        self.assertEqual(self.check(NAMES, header="")[0], 2)


if __name__ == "__main__":
    unittest.main()
