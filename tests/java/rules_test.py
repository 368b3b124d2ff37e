#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The translation keeps rules of Java that are easy to break: rules_test.py SUKIMA_JAVAC RUNTIME [NAME...]

Each program below is valid Java. javac compiles it, and sukima-javac compiles it in two forms: with a nested function whose
first call is captured, and with one whose owner has a frame already. All outputs must be the same. NAMEs choose programs.
"""
import pathlib
import sys
import tempfile

import machine
import rules_of_exits
import rules_of_frames

HEAD = "import sukima.closures.*; import java.util.*;\n"
COMMON = """
    static int calls;
    static String log = "";
    static int f(int n, NestedRunnable r) { r.run(); return n; }
    static String run() throws Exception {
        String all = "";
        for (int i = 0; part(i / 2, i % 2 == 1) != null; i++) { all += part(i / 2, i % 2 == 1) + " " + calls + "; "; }
        return all;
    }
    static Object part(int part, boolean isAsleep) throws Exception {
        calls = 0;
        log = "";
        NestedRunnable r = () -> calls++;
        if (isAsleep) { r.run(); calls--; }
        return part(part, r);
    }
"""
# The members of a class each. The method `part` computes what the forms are compared by; only the first call is captured in
# each part. It returns null behind the last part.
PROGRAMS = {
    "LambdaInCallOfConstructor": """
        interface Step { int step(int x); }
        static int step(int x, NestedRunnable r) { r.run(); return x; }
        static class B { final Step s; B(Step s) { this.s = s; } }
        static class C extends B {
            C(NestedRunnable r, boolean isNow) { super(x -> step(x, r) + 1); if (isNow) r.run(); }
            <T> C(T by, int more, NestedRunnable r) { super(x -> step(x, r) + by.hashCode() + more); r.run(); }
        }
        static int call(Step s) { return s.step(1); }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: return call(new C(r, false).s);
                case 1: return call(new C(r, true).s);
                case 2: return call(new C(10, 20, r).s);
                default: return null;
            }
        }""",
    "Constants": """
        static int isAfterCall(NestedRunnable r, boolean isTrue) {
            int k = 98;
            r.run();
            log += isTrue ? k : 'a';
            final int constant = 98;
            final var other = (char) (constant + 1);
            r.run();
            log += isTrue ? constant : 'a';
            switch (k + f(0, r)) {
                case constant: byte narrow = constant; log += narrow; break;
                case other: log += "other";
            }
            return 1;
        }
        static String texts(NestedRunnable r) {
            String a = "x";
            final String b = "x\\n\\u00e9\\"";
            final double none = 0.0 / 0.0;
            final long least = Long.MIN_VALUE;
            r.run();
            return ((a + "y") == "xy") + " " + ((b + "y") == "x\\n\\u00e9\\"y") + none + least + b.length();
        }
        static int loop(NestedRunnable r, int turns) {
            boolean isOn = true;
            while (isOn) { r.run(); if (turns-- == 0) return 1; }
            return 0;
        }
        static int endless(NestedRunnable r, int turns) {
            final boolean isOn = true;
            int found;
            while (isOn) { r.run(); if (turns-- == 0) { found = f(3, r); break; } }
            return found;
        }
        static void inBlocks(NestedRunnable r, boolean isTrue) {
            for (int i = 0; i < 2; i++) {
                final int inLoop = 99;
                final short small = -3;
                NestedRunnable add = () -> { log += isTrue ? inLoop : 'a'; r.run(); log += small; };
                Runnable plain = () -> log += isTrue ? inLoop : 'b';
                add.run();
                plain.run();
                log += isTrue ? inLoop : 'c';
            }
        }
        static void inHeader(NestedRunnable r, boolean isTrue) {
            for (final int step = 97; calls < 30; r.run()) { log += isTrue ? step : 'c'; calls += 10; }
        }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: return isAfterCall(r, true) + log;
                case 1: inBlocks(r, true); return log;
                case 5: inHeader(r, true); return log;
                case 2: return texts(r);
                case 3: return loop(r, 1);
                case 4: return endless(r, 1);
                default: return null;
            }
        }""",
    "TwoInheritedMethods": """
        interface A1 { int f(int x); }
        interface A2 { int f(int x); }
        interface B extends A1, A2 { }
        static class K implements A1 { A2 in; public int f(int x) { return in.f(x) + 1; } }
        static int call(A1 a) { return a.f(1); }
        interface Mirror1 { int f(int x); }
        interface Mirror2 { int f(int x); }
        interface MirrorB extends Mirror1, Mirror2 { }
        static class MirrorK implements Mirror2 { Mirror1 in; public int f(int x) { return in.f(x) + 1; } }
        static int call(Mirror2 a) { return a.f(1); }
        interface G<T> { int f(T x); }
        interface H<T> extends G<T> { }
        interface I { int f(Integer x); }
        interface J extends H<Integer>, I { }
        static class L implements I { G<Integer> in; public int f(Integer x) { return in.f(x) + 1; } }
        static int call(I a) { return a.f(1); }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: K k = new K(); B b = x -> f(x, r); k.in = b; return call(k);
                case 1: MirrorK m = new MirrorK(); MirrorB mb = x -> f(x, r); m.in = mb; return call(m);
                case 2: L l = new L(); J j = x -> f(x, r); l.in = j; return call(l);
                default: return null;
            }
        }""",
    "PreciseRethrow": """
        static void read() throws java.io.IOException { throw new java.io.FileNotFoundException("lost"); }
        static void one(NestedRunnable r) throws java.io.IOException {
            try { read(); } catch (Exception e) {
                NestedRunnable c = () -> log += e.getMessage();
                c.run();
                r.run();
                Runnable plain = () -> log += e;
                plain.run();
                throw e;
            }
        }
        static void many(NestedRunnable r) throws java.io.IOException {
            try { read(); } catch (java.io.FileNotFoundException | IllegalStateException e) {
                NestedRunnable c = () -> { r.run(); log += e.getMessage(); };
                c.run();
                throw e;
            }
        }
        static void only(NestedRunnable r) {
            try { throw new IllegalStateException("first"); } catch (RuntimeException e) {
                NestedRunnable c = () -> { r.run(); log += e.getMessage(); };
                c.run();
                throw e;
            }
        }
        static Object part(int part, NestedRunnable r) {
            try {
                switch (part) {
                    case 0: one(r); break;
                    case 1: many(r); break;
                    case 2: only(r); break;
                    default: return null;
                }
            } catch (java.io.IOException | IllegalStateException e) { log += " " + e.getMessage(); }
            return log;
        }""",
    "LambdasInConditions": """
        static boolean isAny(int k, java.util.function.IntPredicate test) { return test.test(k); }
        static void plain(NestedRunnable r, int k) {
            if (isAny(3, x -> x > k)) r.run();
            while (isAny(calls, x -> x < k)) r.run();
            do { r.run(); } while (isAny(calls, x -> x < 3 + k));
            for (int i = f(0, r); isAny(i, x -> x < k); i++) r.run();
            switch (isAny(3, x -> x > k) ? 1 : 0) { case 1: r.run(); break; default: log += "none"; }
            log += isAny(f(3, r), x -> x > k) && isAny(f(2, r), x -> x > k) ? f(1, r) : f(2, r);
            for (int low : new int[] {1, isAny(3, x -> x > k) ? 2 : 3}) { r.run(); log += low; }
        }
        static void inLoop(NestedRunnable r) {
            for (int j = 0; j < 2; j++) {
                int k = j + 1;
                NestedRunnable c = () -> { r.run(); log += k; };
                c.run();
                if (isAny(3, x -> x > k)) r.run();
                if (isAny(f(3, r), x -> x > k)) c.run();
                int i = 0;
                while (isAny(i, x -> x < k)) { r.run(); i++; }
                do { r.run(); if (i == 2) { i++; continue; } i++; } while (isAny(i, x -> x < 3 + k));
                for (int m = 0; isAny(m, x -> x < k); m++) c.run();
                for (int m = isAny(3, x -> x > k) ? 0 : 1; m < 3; m++) { if (m == 1) continue; c.run(); }
                for (int m = 0; m < 3; m += isAny(3, x -> x > k) ? 1 : 2) { if (m == 1) continue; c.run(); }
                for (int m = 0; m < 2; m++) { c.run(); Runnable plain = () -> log += k; plain.run(); }
                switch (isAny(3, x -> x > k) ? 1 : 0) { case 1: r.run(); break; default: log += "none"; }
                log += isAny(f(3, r), x -> x > k) && isAny(f(2, r), x -> x > k) ? f(1, r) : f(2, r);
            }
        }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: plain(r, 2); return log;
                case 1: inLoop(r); return log;
                default: return null;
            }
        }""",
    "FinalFields": """
        static class Deep {
            final int k;
            final Object o;
            Deep(NestedRunnable r) { k = 1; r.run(); o = new Object() { final int k; { k = 2; } public String toString() { return "o" + k; } }; }
        }
        static class Dense {
            final int k;
            Dense(NestedRunnable r) { k = 1; r.run(); }
            Dense(NestedRunnable r, int i) { k = i; r.run(); }
            Dense(int i) { k = i; }
            Dense() {this(5);}
        }
        static class Annotated {
            /* final */ @SuppressWarnings("final // final") /* final */ private /* final
                final */ final @Deprecated int k;
            @SuppressWarnings(/* final */ value = "//") final int a, b;
            Annotated(NestedRunnable r) { k = 1; r.run(); a = f(3, r); b = 4; }
        }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: return new Deep(r).o;
                case 1: return new Deep(r).k;
                case 2: return new Dense(r).k + new Dense().k + new Dense(r, 7).k;
                case 3: Annotated made = new Annotated(r); return made.k + " " + made.a + made.b;
                default: return null;
            }
        }""",
    "InterfaceOfSubclass": """
        interface Step { int step(int x); }
        static abstract class Base<T> { NestedRunnable r; public int step(int x) { r.run(); return x; } }
        static abstract class Middle extends Base<String> { }
        static class Leaf extends Middle implements Step { }
        static int call(Step s) { return s.step(1) + 1; }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: Leaf leaf = new Leaf(); leaf.r = r; return call(leaf);
                case 1: Leaf own = new Leaf(); own.r = r; return own.step(4);
                default: return null;
            }
        }""",
    "NarrowedConstants": """
        static final int WIDE = 7;
        interface Small { byte get(); }
        static class Fields {
            final int k = 3;
            String all(NestedRunnable r) {
                byte[] bytes = {k, -k, b(1, r)};
                byte one = k;
                r.run();
                byte other = k;
                NestedRunnable c = () -> { byte inner = k; r.run(); byte[] more = {k + 1, b(2, r)}; log += inner + more[0]; };
                c.run();
                return shown(bytes, one, other) + log;
            }
        }
        static byte b(int n, NestedRunnable r) { return (byte) f(n, r); }
        static byte after(NestedRunnable r) { r.run(); return 5 + 1; }
        static char chosen(NestedRunnable r, boolean isTrue) { return isTrue ? (char) f('c', r) : 'a' + 1; }
        static String shown(Object... all) { return Arrays.deepToString(all); }
        static String arrays(NestedRunnable r) {
            final int ten = 10;
            byte[] bytes = {1 + 1, WIDE, -ten, (WIDE), ten > 3 ? 1 : 2, b(1, r)};
            char[] chars = new char[] {'a' + 1, 98, (char) f('c', r), 99 + 1};
            short[][] shorts = {{1 << 3, ~1, (short) f(5, r)}, {WIDE * 2, (short) f(6, r)}};
            Byte[] boxed = {1 + 1, WIDE, b(3, r)};
            Character[] letters = {'a' + 1, (char) f('z', r)};
            Short[] boxedShorts = new Short[] {WIDE - 8, (short) f(2, r)};
            return shown(bytes, chars, shorts, boxed, letters, boxedShorts);
        }
        static String others(NestedRunnable r) {
            byte one = 1 + 1;
            NestedRunnable c = () -> { r.run(); log += one; };
            c.run();
            byte[] to = new byte[2];
            to[f(1, r)] = 1 + WIDE;
            byte chosen = f(1, r) > 0 ? b(3, r) : 1 + 1;
            Byte other = f(1, r) > 1 ? b(3, r) : WIDE + 1;
            Small s = () -> WIDE;
            return shown(to, chosen, other, s.get(), after(r), chosen(r, true), chosen(r, false), 1 + 1, 1L + 1, b(2, r)) + log;
        }
        static String texts(NestedRunnable r) {
            Object[] all = {"a" + "b", 1 / 2, "x" + WIDE, f(1, r)};
            try { shown(1 / 0, f(100, r)); } catch (ArithmeticException e) { log += calls + e.getMessage(); }
            return (all[0] == "ab") + " " + (all[2] == "x7") + shown(all) + log;
        }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: return arrays(r);
                case 1: return others(r);
                case 2: return texts(r);
                case 3: return new Fields().all(r);
                default: return null;
            }
        }""",
    "ExplicitTypes": """
        interface G<T> { int f(T x); }
        static <T> int each(G<T> g) { return g.f((T) (Object) "text"); }
        interface IntStep { int of(int x); }
        interface StrStep { int of(String x); }
        static int call(IntStep s) { return s.of(1); }
        static int call(StrStep s) { return s.of("long"); }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: return each((String s) -> f(s.length(), r));
                case 1: return call((int x) -> f(x, r));
                case 2: return call((final String s) -> f(s.length(), r));
                case 3: G<String> inferred = x -> f(x.length(), r); return inferred.f("abc");
                case 4: return each((@SuppressWarnings("all") CharSequence s) -> f(s.length(), r));
                default: return null;
            }
        }""",
    **rules_of_exits.PROGRAMS,
    **rules_of_frames.PROGRAMS,
}


def source(programs):
    classes = [f"class {name} {{{COMMON}{members}\n}}\n" for name, members in programs.items()]
    prints = [f'        System.out.println("{name}: " + {name}.run());\n' for name in programs]
    main = f"class Main {{\n    public static void main(String[] arguments) throws Exception {{\n{''.join(prints)}    }}\n}}\n"
    return HEAD + "".join(classes) + main


def outputs(compiler, runtime, programs, folder):
    folder.mkdir()
    file = folder / "Main.java"
    file.write_text(source(programs))
    machine.succeeded(compiler("-nowarn", "-cp", runtime, "-d", folder, file))
    return machine.lines_of_program(f"{folder}:{runtime}", "Main")


def main():
    compilers, runtime, names = machine.Machine(sys.argv[1]), sys.argv[2], sys.argv[3:] or list(PROGRAMS)
    programs = {name: PROGRAMS[name] for name in names}
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as folder:
        extended = outputs(compilers.sukima_javac, runtime, programs, pathlib.Path(folder, "extended"))
        plain = outputs(compilers.javac, runtime, programs, pathlib.Path(folder, "plain"))
    wrong = [f"{one}\ninstead of {other}" for one, other in zip(extended, plain) if one != other]
    if wrong or len(plain) != len(programs):
        sys.exit("\n".join(wrong) or f"{len(plain)} lines from {len(programs)} programs")
    print(f"{len(programs)} programs alike")


if __name__ == "__main__":
    main()
