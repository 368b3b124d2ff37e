# SPDX-License-Identifier: Apache-2.0
"""Programs of rules_test.py with many variables, unusual types and operands, and finally blocks that never end normally."""

MANY = 130
SUM = " + ".join(f"v{i}" for i in range(MANY))

PROGRAMS = {
    # More values than a method can have as parameters: each of these takes two of 255 words.
    "ManyVariables": f"""
        static double many(long first, NestedRunnable r) {{
            double {", ".join(f"v{i} = first + {i}" for i in range(MANY))};
            r.run();
            v1 = {SUM};
            return f(1, r) + v1 - ({SUM}) / v0;
        }}
        static Object part(int part, NestedRunnable r) {{
            return part == 0 ? (Object) many(3, r) : null;
        }}""",
    "TypeVariables": """
        static <T extends Comparable<? super T>> T largest(List<? extends T> all, NestedRunnable r) {
            T found = null;
            for (T one : all) {
                r.run();
                found = found == null || f(one.compareTo(found), r) > 0 ? one : found;
            }
            return found;
        }
        static <T extends CharSequence & Comparable<T>, U extends T> String ends(T a, List<? super U> to, U b, NestedRunnable r) {
            to.add(b);
            int order = f(a.length(), r) + a.compareTo(b);
            to.add(b);
            return a.subSequence(0, 1) + " " + order + to;
        }
        static <E extends Enum<E>> E next(Class<E> of, E e, NestedRunnable r) {
            E[] all = of.getEnumConstants();
            return all[f(e.ordinal(), r) + 1];
        }
        static <T> int unused(NestedRunnable r) { return f(2, r) + f(3, r); }
        class Inner<V> {
            V value;
            <W extends V> Map<V, ? super W> put(Map<V, ? super W> map, W w, NestedRunnable r) {
                r.run();
                map.put(value, w);
                value = w;
                r.run();
                return map;
            }
        }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: return largest(List.of(3, 5, 4), r);
                case 1: return ends("pear", new ArrayList<Object>(), "fig", r);
                case 2: return next(Thread.State.class, Thread.State.NEW, r) + " " + unused(r);
                case 3: return new TypeVariables().new Inner<Number>().put(new HashMap<>(), 5, r);
                default: return null;
            }
        }""",
    # A value of a type without a name in a string.
    "TextOfUnnamedTypes": """
        static Object part(int part, NestedRunnable r) {
            String s = "s";
            switch (part) {
                case 0: return "a" + (calls == 0 ? 1 : "x") + f(1, r) + (calls == 0 ? 'c' : "y") + f(2, r);
                case 1: return (calls == 0 ? 1 : "x") + "b" + f(1, r);
                case 2: s += calls == 0 ? f(1, r) : "x"; return s + ((calls == 0 ? "y" : (2.5))) + f(calls, r);
                case 3: return s + (calls > 0 ? null : part == 3 ? List.of(1) : "x") + f(1, r);
                case 4: return s + (calls > 0 ? "x" : f(4, r)) + (calls == 1 ? new StringBuilder("t") : f(3, r)) + f(1, r);
                default: return null;
            }
        }""",
    "BoundByItself": """
        static abstract class Node<T extends Node<T>> { int k = 3; abstract T self(); }
        static class Leaf extends Node<Leaf> { Leaf self() { return this; } }
        static int sum(Node<?> n, int k) { return n.k + k; }
        static String name(Enum<?> e, int k) { return e.name() + k; }
        static Object part(int part, NestedRunnable r) {
            for (Node<?> n : List.of(new Leaf())) {
                for (Enum<?> e : List.of(Thread.State.NEW)) {
                    switch (part) {
                        case 0: return sum(n, f(1, r));
                        case 1: return sum(n.self(), f(2, r));
                        case 2: return name(e, f(3, r));
                        default: return null;
                    }
                }
            }
            return null;
        }""",
    # An operand is evaluated before the next one, also a compound assignment without parentheses.
    "CompoundOperands": """
        int field = 3;
        static int both(int a, int b) { return 10 * a + b; }
        static String fields(CompoundOperands o, int[] a, NestedRunnable r) {
            int y = 2;
            (y) += f(3, r);
            (a)[0] += f(2, r);
            ((CompoundOperands) o).field += f(4, r);
            o.add(r);
            return y + " " + a[0] + " " + o.field;
        }
        void add(NestedRunnable r) { (this).field += f(1, r); (field) += f(2, r); }
        static int labels(NestedRunnable r) {
            int n = 0;
            alone: r.run();
            outer: loop: for (int i = 0; i < 3; i++) { alone: for (;;) { n += f(1, r); if (i == 0) continue loop; if (i == 1) break outer; } }
            return n;
        }
        static String types(Object o, NestedRunnable r) {
            NestedFunction<Object, String> n = x -> f(1, r) + (x instanceof String s && s.isEmpty() ? s : "full");
            return n.apply(o);
        }
        static Object part(int part, NestedRunnable r) {
            int x = 1;
            int[] a = new int[9];
            String s = "a";
            switch (part) {
                case 0: return both(x += f(2, r), f(x, r)) + " " + x;
                case 1: return Arrays.toString(new int[] {x += f(2, r), f(x, r), x});
                case 2: a[x += f(2, r)] = f(x, r); return Arrays.toString(a);
                case 3: return String.join("-", s += f(1, r), s + f(2, r), s);
                case 4: return both(both(x += f(2, r), x), both(x -= f(1, r), f(x, r)));
                case 5: return fields(new CompoundOperands(), a, r);
                case 6: return labels(r) + types("", r) + types("x", r);
                default: return null;
            }
        }""",
    # A nested function in a loop's header, with variables of its own in a switch expression there.
    "FunctionsInHeaders": """
        static boolean isBelow(int k, int end, NestedRunnable r) {
            return switch (end) {
                case 0: yield false;
                default: { boolean isBelow = k < end; NestedSupplier<Boolean> s = () -> { r.run(); return isBelow; }; yield s.get(); }
            };
        }
        static String loops(NestedRunnable r) {
            int i = 0;
            while (switch (i) { default -> { int k = i * 2; NestedRunnable n = () -> { r.run(); log += k; }; n.run(); n.run(); yield k < 4; } }) {
                int own = i + 5;
                NestedRunnable n = () -> { r.run(); log += own; };
                n.run();
                if (i++ == 0) continue;
                n.run();
            }
            do {
                int own = i--;
                NestedRunnable n = () -> { r.run(); log += "d" + own; };
                n.run();
                if (own == 2) continue;
                n.run();
            } while (switch (i) { default -> { int k = i; NestedSupplier<Boolean> n = () -> f(k, r) > 0; yield n.get(); } });
            outer: for (int j = 0; switch (j) { default -> { int k = j; NestedSupplier<Boolean> n = () -> f(k, r) < 3; yield n.get(); } };
                    j += switch (j) { default -> { int k = j; NestedSupplier<Integer> n = () -> f(k, r) + 1; yield n.get(); } }) {
                int own = j;
                NestedRunnable n = () -> { r.run(); log += "f" + own; };
                n.run();
                if (j == 0) continue outer;
                log += isBelow(j, 3, r);
            }
            for (int j = 0; j < 3; j += switch (j) { default -> { int k = 1; NestedSupplier<Integer> n = () -> f(k, r); yield n.get(); } }) { log += j; }
            return log;
        }
        static String starts(NestedRunnable r) {
            for (int j = switch (calls) { default -> { int k = 3; NestedSupplier<Integer> n = () -> f(k, r); yield n.get(); } }; j < 5; j++) {
                for (int e : switch (j) { default -> { int k = j; NestedSupplier<int[]> n = () -> new int[] {f(k, r), k + 1}; yield n.get(); } }) {
                    NestedRunnable n = () -> { r.run(); log += " " + e; };
                    n.run();
                    n.run();
                }
            }
            return log;
        }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: return loops(r);
                case 1: return starts(r);
                default: return null;
            }
        }""",
    # The parameter of a multi-catch has the common interfaces of its exceptions.
    "InterfacesOfExceptions": """
        interface Coded { int code(); default int twice(int by) { return 2 * code() + by; } }
        interface Named<T extends Named<T>> { default String own() { return getClass().getSimpleName(); } }
        static class X1 extends RuntimeException implements Coded, Named<X1> { public int code() { return 1; } }
        static class X2 extends IllegalStateException implements Named<X2>, Coded { public int code() { return 2; } }
        static class X3 extends Exception implements Coded { public int code() { return 3; } }
        static String both(Coded one, int two) { return one.code() + " " + two; }
        static String text(Named<?> one, Coded other) { return one.own() + other.code(); }
        static void in(int k, NestedRunnable r) throws X3 {
            if (k > 2) return;
            r.run();
            if (k == 2) throw new X3(); else if (k == 1) throw new X2();
            throw new X1();
        }
        static Object caught(int k, NestedRunnable r) throws X3 {
            try { in(k, r); return null; } catch (X1 | X2 e) {
                log += e.code() + both(e, f(1, r)) + text(e, e);
                NestedRunnable n = () -> {
                    r.run();
                    log += e.twice(f(3, r));
                    Runnable plain = () -> log += e.own() + e.getMessage();
                    plain.run();
                };
                n.run();
                Coded coded = e;
                java.util.function.IntSupplier plain = () -> e.code();
                log += coded.twice(f(1, r)) + plain.getAsInt();
                java.util.function.Supplier<String> reference = e::own;
                log += reference.get();
            }
            return log;
        }
        static String thrown(int k, NestedRunnable r) {
            try {
                try { in(k, r); } catch (X3 | X2 e) { r.run(); log += e.code(); throw e; }
            } catch (X3 e) { r.run(); log += "x3"; } catch (X2 e) { log += e.own(); }
            return log;
        }
        static Object part(int part, NestedRunnable r) throws Exception {
            return part < 2 ? caught(part, r) : part < 4 ? thrown(part - 1, r) : null;
        }""",
    # Members of the program have names as those of the frame and of the translation.
    "NamesOfFrames": """
        static int state$ = 40;
        static int f$ = 1, c$ = 2, turn$ = 3;
        static String line$() { return "line"; }
        static class Outer {
            int inner$ = 5;
            String method$() { return "outer"; }
            class In extends Base {
                String all(NestedRunnable r) {
                    int k = f(1, r);
                    inner$ += k;
                    thrown$ = "x" + (state$ += inner$);
                    for (int i = 0; i < 2; i++) {
                        int own = i;
                        NestedRunnable n = () -> { r.run(); turn$ += own; log += thrown$ + inner$ + method$() + f$ + c$ + turn$; };
                        n.run();
                    }
                    Object o = new Object() {
                        int inner$ = 9;
                        String method$() { return "own" + inner$ + state$; }
                        public String toString() { return method$() + line$() + thrown$ + resume$(); }
                    };
                    Runnable plain = () -> log += inner$ + line$() + o;
                    plain.run();
                    switch (f(1, r)) { case ONE$: log += ONE$; }
                    log += switch (f(1, r)) { case ONE$ -> state$; default -> f(2, r); };
                    log += switch (k) { case ONE$ -> state$; default -> 2; };
                    return log + f(inner$, r) + state$ + line$() + method$() + resume$() + thrown$;
                }
            }
        }
        static final int ONE$ = 1;
        static class Base { protected String thrown$ = "none"; String resume$() { return "resume"; } }
        static Object part(int part, NestedRunnable r) {
            state$ = 40;
            turn$ = 3;
            return part == 0 ? new Outer().new In().all(r) : null;
        }""",
    # Java checks the class of an element only where a certain class is needed.
    "PollutedOperands": """
        static List<String> polluted() { List all = new ArrayList(); all.add(5); return all; }
        static String show(Object a, int b) { return a + " " + b; }
        static String show(String a, int b) { return "string " + a + b; }
        static String any(int b, Object... all) { return b + Arrays.toString(all); }
        static String any(Object a, Object b) { return "any" + a + b; }
        static <T> String of(T t, Object a, int b) { return t + "" + a + b; }
        static Object operands(int part, List<String> all, NestedRunnable r) {
            switch (part) {
                case 0: return any(all.get(0), f(1, r));
                case 1: return of("t", all.get(0), f(2, r));
                case 2: return any(1, all.get(0), f(3, r));
                case 3: return new Object[] {all.get(0), f(4, r)}[0];
                case 4: return show(all.get(0), f(5, r));
                case 5: return show((Object) all.get(0), f(6, r));
                case 6: return any(new Object() { public String toString() { return "o"; } }, f(7, r));
                default: return null;
            }
        }
        static Object part(int part, NestedRunnable r) {
            try { return operands(part, polluted(), r); } catch (ClassCastException e) { return "checked after " + calls; }
        }""",
    # The exception for null comes before the next operand is evaluated.
    "NullOperands": """
        class Inner { final int k; Inner(int k) { this.k = k; } }
        static int both(int a, int b) { return 10 * a + b; }
        static int count(int... all) { return all.length; }
        static Object any(Object a, long b, int c) { return a + " " + b + c; }
        static Integer integer(boolean isNull) { return isNull ? null : 2; }
        static Integer made(boolean isNull, NestedRunnable r) { r.run(); return integer(isNull); }
        static Object operands(int part, boolean isNull, NestedRunnable r) {
            Integer x = integer(isNull), changed = x;
            Boolean b = isNull ? null : true;
            NullOperands outer = isNull ? null : new NullOperands();
            int[][] a = new int[3][3];
            r.run();
            switch (part) {
                case 0: return x + f(1, r);
                case 1: return both(x, f(1, r));
                case 2: changed += f(1, r); return changed;
                case 3: return x < f(1, r);
                case 4: return new int[] {x, f(1, r)}[0];
                case 5: a[x][f(1, r)]++; return a[2][1];
                case 6: return b & f(1, r) > 0;
                case 7: return made(isNull, r) == f(2, r);
                case 8: return new int[x][f(1, r)].length;
                case 9: return count(1, x, f(1, r));
                case 10: return outer.new Inner(f(1, r)).k;
                case 11: return any(x, 3, f(1, r));
                case 12: return x + "" + f(1, r) + (x == changed);
                case 13: return any(x, 1, x) + "" + any(1, x, f(1, r));
                default: return null;
            }
        }
        static Object part(int part, NestedRunnable r) {
            try {
                return operands(part / 2, part % 2 == 1, r);
            } catch (NullPointerException e) {
                return "null after " + calls;
            }
        }""",
    # Java then does not require declarations of the body's exceptions. If the block can end normally, they propagate.
    "EndlessFinally": """
        static class E extends Exception { E(String s) { super(s); } }
        static int body(int k, NestedRunnable r) throws E {
            if (k == 0) { throw new E("zero"); }
            r.run();
            if (k == 1) { throw new E("one"); }
            return k;
        }
        static int branches(int k, NestedRunnable r) {
            try { return body(k, r); } finally { if (f(k, r) == 0) { return 10; } else { return 11 + calls; } }
        }
        static int loop(int k, NestedRunnable r) {
            try { return body(k, r); } finally { while (true) { r.run(); if (calls > 3) { return 20 + calls; } } }
        }
        static int block(int k, NestedRunnable r) {
            try { body(k, r); } finally { { r.run(); { log += k; return 30; } } }
        }
        static int choice(int k, NestedRunnable r) {
            try { body(k, r); } finally {
                switch (f(k, r)) { case 0: return 40; case 1: throw new IllegalStateException("41"); default: return calls; }
            }
        }
        static int inner(int k, NestedRunnable r) {
            for (int i = 0; ; i++) {
                try { body(k, r); } finally {
                    try { r.run(); if (i < 2) { continue; } return 50 + i; } finally { log += "i" + f(i, r); }
                }
            }
        }
        static int locked(int k, NestedRunnable r) {
            out: { try { return body(k, r); } finally { synchronized (log) { r.run(); break out; } } }
            return 60 + calls;
        }
        static int ends(int k, NestedRunnable r) throws E {
            try { return body(k, r); } finally { do { r.run(); if (calls == 1) { break; } } while (calls < 3); log += "e"; }
        }
        static int labelled(int k, NestedRunnable r) throws E {
            try { return body(k, r); } finally { end: { if (f(k, r) < 5) { break end; } return 70; } }
        }
        static Object part(int part, NestedRunnable r) {
            int k = part % 3;
            try {
                switch (part / 3) {
                    case 0: return branches(k, r);
                    case 1: return loop(k, r);
                    case 2: return block(k, r) + log;
                    case 3: return choice(k, r);
                    case 4: return inner(k, r) + log;
                    case 5: return locked(k, r);
                    case 6: return ends(k, r) + log;
                    case 7: return labelled(k, r);
                    default: return null;
                }
            } catch (E | IllegalStateException e) {
                return e + log;
            }
        }""",
}
