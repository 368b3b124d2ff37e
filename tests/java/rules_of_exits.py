# SPDX-License-Identifier: Apache-2.0
"""Programs of rules_test.py with calls in switch expressions, in finally blocks and at resources."""

PROGRAMS = {
    "SwitchExpressions": """
        enum Color { RED, GREEN, BLUE }
        static int g(int n, NestedRunnable r) { r.run(); log += "g" + n; return n + calls; }
        static long arms(int k, NestedRunnable r) {
            return switch (g(k, r)) {
                case 1, 2 -> g(10, r);
                case 3 -> { int v = 5; r.run(); yield v + calls; }
                case 4 -> throw new IllegalStateException("four");
                default -> 7L;
            };
        }
        static String groups(Color c, NestedRunnable r) {
            String text = "a" + calls + switch (c) {
                case RED:
                    r.run();
                case GREEN:
                    for (int i = 0; ; i++) {
                        if (i == 2) { yield "loop" + g(i, r); }
                        if (i == 1) { r.run(); continue; }
                        switch (i) { case 0: r.run(); break; default: yield "never"; }
                    }
                case BLUE:
                    yield "blue";
            } + calls + g(1, r);
            return text;
        }
        static int order(NestedRunnable r) {
            int[] a = {1, 2, 3};
            int i = 0;
            a[i++] += switch (i) { case 1 -> { i = 2; a[0] = 100; yield f(i, r); } default -> -1; } * i;
            return Arrays.hashCode(a) + i * g(switch (a[1]) { case 2 -> f(3, r); default -> 4; }, r) - (i = 9) + i;
        }
        static Object types(int k, NestedRunnable r) {
            Object o = switch (k) { case 0 -> f(1, r); case 1 -> 2.5; default -> 'c'; };
            byte b = switch (k) { case 0 -> 5; default -> { r.run(); yield 6; } };
            char c = switch (k) { case 0 -> 'x'; default -> { r.run(); yield 98; } };
            var wide = switch (k) { case 0 -> 1; case 1 -> { r.run(); yield 2L; } default -> (short) 3; };
            List<String> list = switch (k) { case 0 -> { r.run(); yield List.of(); } default -> new ArrayList<>(); };
            Integer boxed = switch (k) { case 0 -> null; default -> f(4, r); };
            return o + " " + b + c + (Object) wide + list + boxed + (k == 0 || switch (k) { case 1 -> f(1, r) > 0; default -> false; });
        }
        static int functions(int k, NestedRunnable r) {
            int[] n = {0};
            NestedFunction<Integer, Integer> add = switch (k) {
                case 0 -> { int by = 5 + k; yield x -> n[0] += by + x; }
                case 1 -> x -> { r.run(); return n[0] += x; };
                default -> { int[] own = {1}; NestedFunction<Integer, Integer> inner = x -> { own[0] += x; r.run(); return own[0]; }; yield inner; }
            };
            return add.apply(1) * 100 + add.apply(2) * 10 + n[0];
        }
        static int nested(int k, NestedRunnable r) {
            int x = 0;
            for (; switch (x) { case 0, 1 -> f(1, r) > 0; default -> false; }; x += switch (k) { case 0 -> f(1, r); default -> 2; }) {
                if (switch (x) { case 0 -> { try { r.run(); yield true; } finally { log += "fin"; } } default -> !log.isEmpty(); }) continue;
                log += "no";
            }
            int inner = switch (switch (k) { case 0 -> f(3, r); default -> 4; }) {
                case 3 -> switch (k) { case 0 -> { int w = f(8, r); yield w + switch (w) { case 8 -> f(1, r); default -> 0; }; } default -> 1; };
                default -> { synchronized (log) { r.run(); yield 11; } }
            };
            do { log += "d"; } while (switch (calls) { case 1000 -> f(1, r) > 0; default -> false; });
            return x * 100 + inner;
        }
        static String thrown(int k, NestedRunnable r) {
            try {
                return "v" + switch (k) {
                    case 0 -> { try { r.run(); throw new IllegalStateException("in"); } catch (IllegalStateException e) { r.run(); yield e.getMessage(); } }
                    default -> { r.run(); throw new java.io.IOException("out"); }
                };
            } catch (java.io.IOException e) { return e.getMessage() + f(1, r); }
        }
        static String nothing(Color c, NestedRunnable r) {
            try {
                return switch (c) { case RED -> "r"; case GREEN -> "g" + f(1, r); case BLUE -> { r.run(); yield "b"; } };
            } catch (NullPointerException e) { return "null"; }
        }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: return arms(0, r) + "" + arms(2, r) + log;
                case 1: return arms(1, r);
                case 2: try { return arms(2, r) + arms(2, r); } catch (IllegalStateException e) { return e.getMessage(); }
                case 3: return groups(Color.RED, r) + groups(Color.GREEN, r) + log;
                case 4: return groups(Color.BLUE, r) + log;
                case 5: return order(r) + log;
                case 6: case 7: case 8: return types(part - 6, r);
                case 9: case 10: case 11: return functions(part - 9, r);
                case 12: case 13: return nested(part - 12, r) + log;
                case 14: case 15: return thrown(part - 14, r);
                case 16: return nothing(Color.GREEN, r) + nothing(Color.BLUE, r) + nothing(null, r);
                default: return null;
            }
        }""",
    "CallsInFinally": """
        static class E extends Exception { E(String text) { super(text); } }
        static int g(int n, NestedRunnable r) { log += "g" + n; r.run(); return n; }
        static void fail(int k) throws E { if (k == 1) throw new E("one"); if (k == 2) throw new IllegalStateException("two"); }
        static int returned(int k, NestedRunnable r) throws E {
            int x = 1;
            try { fail(k); return x + 10; } finally { x = 50; g(x, r); log += x; }
        }
        static int caught(int k, NestedRunnable r) {
            int x = 0;
            try {
                try { x = 1; fail(k); x = 2; } finally { x += 10; g(x, r); x += 100; }
            } catch (E e) { return g(x, r) + e.getMessage().length(); } catch (RuntimeException e) { log += e.getMessage(); }
            return x;
        }
        static int replaced(int k, NestedRunnable r) {
            try { fail(k); return 1; } catch (E e) { throw new IllegalStateException("lost"); } finally { if (g(k, r) >= 0) { return 7; } }
        }
        static int alwaysReturned(int k, NestedRunnable r) {
            try { fail(k); return 1; } finally { g(k, r); return 8; }
        }
        static void thrown(int k, NestedRunnable r) throws E {
            try { fail(k); log += "kept"; } finally { g(k, r); if (k == 1) throw new E("other"); }
        }
        static String jumps(int i, NestedRunnable r) {
            outer:
            for (;; i++) {
                log += i;
                inner:
                do {
                    try {
                        try {
                            if (i == 0) continue;
                            if (i == 1) continue outer;
                            if (i == 2) break inner;
                            if (i == 3) break;
                            if (i == 4) return "four" + g(i, r);
                            switch (i) { case 5: break; case 6: continue outer; default: break outer; }
                            if (i == 5) { for (int k = 0; k < 3; k++) { if (k == 1) continue; if (k == 2) break; log += "k"; } }
                        } finally {
                            NestedRunnable c = () -> { r.run(); log += "c"; };
                            c.run();
                            log += "f" + g(i, r);
                        }
                        log += "behind";
                    } finally {
                        for (int k = 0; k < 2; k++) { if (k == 0) { g(20, r); continue; } log += "k" + k; }
                        if (i == 4) { i = 5; continue outer; }
                    }
                    log += "end";
                } while (i > 100);
                log += "!";
            }
            return log + i;
        }
        static int nested(int k, NestedRunnable r) throws E {
            int x = 0;
            try {
                try { fail(k); } finally {
                    try { x += g(1, r); fail(k == 1 ? 2 : 0); x += 10; } catch (IllegalStateException e) { log += e.getMessage() + g(2, r); }
                    finally { x += 100; g(3, r); if (k == 2) { try { x += 1000; } finally { g(4, r); log += "inner"; } } }
                    x += g(5, r);
                }
                x++;
            } finally { log += x + ";" + g(6, r); }
            return x;
        }
        static long value(int k, NestedRunnable r) {
            long x = 3;
            block: try { if (k == 0) break block; x = switch (k) {
                case 1 -> { try { yield 5; } finally { g(1, r); x = 9; } }
                case 2 -> { try { yield 6; } finally { if (g(2, r) == 2) yield 66; } }
                default -> { for (int i = 0; ; i++) { try { if (i == 1) yield i; } finally { g(i, r); } } }
            }; } finally { log += "v" + g((int) x, r); }
            return x;
        }
        static class Made {
            final int a;
            int b;
            Made(int k, NestedRunnable r) throws E {
                try { a = g(k, r); if (k == 3) return; b = 1; fail(k); } finally { b += g(2, r); }
                b += 10;
            }
        }
        synchronized String locked(NestedRunnable r) {
            try { synchronized (log) { try { return "in" + g(1, r); } finally { log += Thread.holdsLock(this) + "" + g(2, r); } } }
            finally { log += Thread.holdsLock(this) + "" + g(3, r) + Thread.holdsLock(this); }
        }
        static <T> T generic(T one, List<? extends T> more, NestedRunnable r) {
            for (T each : more) { try { if (each.equals(one)) return each; } finally { g(1, r); T kept = each; g(2, r); log += kept; } }
            return one;
        }
        static Object part(int part, NestedRunnable r) {
            int k = part % 3;
            try {
                switch (part / 3) {
                    case 0: return returned(k, r) + log;
                    case 1: return caught(k, r) + log;
                    case 2: return replaced(k, r) + log;
                    case 3: thrown(k, r); return log;
                    case 4: return jumps(k, r);
                    case 5: return nested(k, r) + log;
                    case 6: return value(k + (calls > 0 ? 0 : 1), r) + log;
                    case 7: return value(k, r) + log;
                    case 8: Made made = new Made(k == 0 ? 3 : k, r); return made.a + " " + made.b + log;
                    case 9: return new CallsInFinally().locked(r) + log;
                    case 10: return generic("b", List.of("a", "b", "c"), r) + log;
                    case 11: return alwaysReturned(k, r) + log;
                    case 12: case 13: return jumps(part - 33, r);
                    default: return null;
                }
            } catch (E | RuntimeException e) { return e + log; }
        }""",
    "CallsAtResources": """
        static class Res implements AutoCloseable {
            final int n;
            Res(int n) throws java.io.IOException { log += "open" + n; if (n == 9) throw new java.io.IOException("nine"); this.n = n; }
            public void close() throws java.io.IOException {
                log += "close" + n;
                if (n > 5) throw new java.io.IOException("at" + n);
            }
        }
        interface Quiet extends AutoCloseable { void close(); }
        static int g(int n, NestedRunnable r) { log += "g" + n; r.run(); return n; }
        static Res open(int n, NestedRunnable r) throws java.io.IOException { r.run(); return n < 0 ? null : new Res(n); }
        static int plain(int one, int two, boolean fails, NestedRunnable r) throws java.io.IOException {
            try (Res a = open(one, r); Res b = new Res(two + g(0, r))) {
                log += a == null ? "null" : "a" + a.n;
                g(b.n, r);
                if (fails) throw new IllegalStateException("body");
                return b.n + g(1, r);
            }
        }
        static String handled(int one, int two, boolean fails, NestedRunnable r) {
            String text = "";
            for (int i = 0; i < 3; i++) {
                try (Res a = new Res(one); Res b = open(two, r)) {
                    if (i == 0) continue;
                    text += a.n;
                    if (i == 1 && fails) throw new IllegalStateException("body" + g(i, r));
                    if (i == 2) break;
                    g(i, r);
                } catch (java.io.IOException | IllegalStateException e) {
                    text += e.getMessage() + g(3, r);
                    for (Throwable each : e.getSuppressed()) text += "+" + each.getMessage();
                } finally { text += "f" + g(4, r) + ";"; }
            }
            return text;
        }
        final Res field = null;
        Res changing;
        String held(NestedRunnable r) throws Exception {
            changing = new Res(1);
            Res kept;
            kept = new Res(2);
            Quiet quiet = () -> log += "quiet";
            final Quiet[] all = {quiet};
            try (kept; field; quiet; Quiet last = all[g(0, r)]; var other = new Res(4)) {
                Runnable seen = () -> log += other.n;
                NestedRunnable c = () -> { r.run(); log += other.n; };
                c.run();
                seen.run();
                all[0] = null;
            }
            return "held" + g(1, r);
        }
        static int yielded(int k, NestedRunnable r) throws java.io.IOException {
            return g(1, r) + switch (k) { case 0 -> { try (Res a = open(3, r)) { yield a.n + g(2, r); } } default -> { try (Res a = open(7, r)) { yield 1; } finally { g(5, r); } } };
        }
        static void same(NestedRunnable r) {
            RuntimeException e = new IllegalStateException("same");
            try (Quiet q = () -> { throw e; }) { g(1, r); throw e; }
        }
        static Object part(int part, NestedRunnable r) throws Exception {
            int[][] ways = {{1, 2}, {-1, 2}, {1, 9}, {7, 8}, {9, 1}, {2, 8}, {8, 2}};
            if (part >= 32) return null;
            try {
                if (part < 14) return plain(ways[part / 2][0], ways[part / 2][1], part % 2 == 0, r) + log;
                if (part < 28) return handled(ways[part / 2 - 7][0], ways[part / 2 - 7][1], part % 2 == 0, r) + log;
                if (part < 30) return yielded(part - 28, r) + log;
                if (part == 30) return new CallsAtResources().held(r) + log;
                same(r);
                return log;
            } catch (java.io.IOException | RuntimeException e) { return e.getMessage() + Arrays.toString(e.getSuppressed()) + log; }
        }""",
    "CancelledJumps": """
        static class E extends Exception { E(String text) { super(text); } }
        static class Res implements AutoCloseable {
            public void close() throws E { log += "close"; throw new E("close"); }
        }
        static int g(int n, NestedRunnable r) { log += "g" + n; r.run(); return n; }
        static int closed(NestedRunnable r) {
            try (Res a = new Res()) { return 1; } catch (E e) { log += "caught"; } finally { g(2, r); }
            log += "behind";
            return 3;
        }
        static int thrown(boolean fails, NestedRunnable r) {
            try {
                try { return 1; } finally { if (fails) throw new IllegalStateException(); }
            } catch (IllegalStateException e) { log += "caught"; } finally { g(2, r); }
            return 3;
        }
        static int left(NestedRunnable r) {
            try {
                lab: try { return 1; } finally { break lab; }
                log += "after";
            } finally { g(2, r); }
            return 3;
        }
        static int looped(NestedRunnable r) {
            int n = 0;
            for (int i = 0; i < 3; i++) {
                try {
                    while (true) try { return 1; } finally { break; }
                    n += i;
                    try (Res a = new Res()) { break; } catch (E e) { n += 10; }
                } finally { n += g(100, r); }
            }
            return n;
        }
        static int inner(NestedRunnable r) {
            try {
                lab: try { return g(5, r); } finally { log += "cold"; break lab; }
                try { return g(6, r); } finally { g(7, r); if (calls > 0) throw new IllegalStateException(); }
            } catch (IllegalStateException e) { log += "caught"; } finally { g(2, r); }
            return 3;
        }
        static Object part(int part, NestedRunnable r) {
            switch (part) {
                case 0: return closed(r) + log;
                case 1: return thrown(true, r) + log;
                case 2: return thrown(false, r) + log;
                case 3: return left(r) + log;
                case 4: return looped(r) + log;
                case 5: return inner(r) + log;
                default: return null;
            }
        }""",
    "JumpsOutOfCopies": """
        static class E extends Exception { E(String text) { super(text); } }
        static class Res implements AutoCloseable {
            final boolean fails;
            Res(boolean fails) { this.fails = fails; }
            public void close() throws E { log += "c"; if (fails) throw new E("close"); }
        }
        static int g(int n, NestedRunnable r) { log += "g" + n; r.run(); return n; }
        static void end(boolean fails) throws E { log += "e"; if (fails) throw new E("end"); }
        static int returned(boolean fails, NestedRunnable r) throws E {
            try { g(1, r); try (Res a = new Res(fails)) { return 1; } } finally { log += "f"; }
        }
        static int returnedThere(boolean fails, NestedRunnable r) throws E {
            try { g(1, r); try { return 1; } finally { end(fails); } }
            catch (E e) { log += e.getMessage(); } finally { log += "f"; g(2, r); }
            return 2;
        }
        static int returnedOutside(boolean fails, NestedRunnable r) {
            try {
                try { g(1, r); try (Res a = new Res(fails); Res b = new Res(false)) { if (r != null) return 1; } } finally { log += "f" + g(3, r); }
            } catch (E e) { log += e.getMessage(); }
            return 2;
        }
        static void nothing(boolean fails, NestedRunnable r) {
            try { g(1, r); try (Res a = new Res(fails)) { return; } } catch (E e) { log += e.getMessage(); }
            log += "last";
        }
        static String loops(boolean fails, boolean isBreak, NestedRunnable r) throws E {
            outer: for (int k = 0; k < 3; k++) {
                try {
                    for (int i = 0; i < 2; i++) {
                        try { g(i, r); try (Res a = new Res(fails)) { if (isBreak) break; continue; } } catch (E e) { log += e.getMessage(); }
                        try { g(i, r); if (i == 1) try { if (isBreak) continue outer; break outer; } finally { end(fails); } } finally { log += "f"; }
                    }
                } catch (E e) { log += "outer" + e.getMessage(); } finally { log += "k" + g(k, r); }
            }
            return log;
        }
        static int yielded(boolean fails, NestedRunnable r) throws E {
            try {
                return g(9, r) + switch (calls) {
                    case 100 -> 0;
                    default -> {
                        try { g(1, r); try (Res a = new Res(fails)) { yield 1; } }
                        catch (E e) { log += e.getMessage(); } finally { g(3, r); }
                        try { g(4, r); try { yield 5L > 4 ? 2 : 3; } finally { end(fails); } } finally { log += "h"; }
                    }
                };
            } catch (E e) { log += "outer"; return 7; }
        }
        static boolean cancelled(Object o, NestedRunnable r) {
            try {
                g(1, r);
                lab: try { return true; } finally { break lab; }
                log += o.hashCode();
            } catch (NullPointerException e) { log += "null"; } finally { log += "f"; }
            return false;
        }
        static int kept(NestedRunnable r) {
            try {
                g(1, r);
                try { return 5; } finally { lab: try { return 1; } finally { break lab; } }
            } catch (RuntimeException e) { return 0; }
        }
        static int replaced(boolean fails, NestedRunnable r) throws E {
            for (int i = 0; ; i++) {
                try {
                    g(1, r);
                    try { if (i > 0) return 5; continue; } finally {
                        lab: try { if (i == 1) return 1; break; } finally { if (i < 2) break lab; }
                        end(fails);
                    }
                } catch (E e) { log += i; if (i == 2) throw e; }
            }
            return 3;
        }
        static int held(boolean fails, NestedRunnable r) {
            try { g(1, r); synchronized (log) { g(2, r); try (Res a = new Res(fails)) { return 1; } } } catch (E e) { log += e.getMessage(); }
            return 2;
        }
        static int nested(boolean fails, NestedRunnable r) throws E {
            NestedFunction<Integer, Integer> add = n -> {
                try { g(1, r); synchronized (r) { try { return n + 1; } finally { if (fails) throw new IllegalStateException("in"); } } }
                catch (IllegalStateException e) { log += e.getMessage(); }
                return n + g(2, r);
            };
            return add.apply(10);
        }
        static Object some(int part, boolean fails, NestedRunnable r) throws E {
            switch (part) {
                case 0: return returned(fails, r);
                case 1: return returnedThere(fails, r);
                case 2: return returnedOutside(fails, r);
                case 3: nothing(fails, r); return 0;
                case 4: return loops(fails, true, r);
                case 5: return loops(fails, false, r);
                case 6: return yielded(fails, r);
                case 7: return cancelled(fails ? null : 'o', r);
                case 8: return replaced(fails, r);
                case 9: return held(fails, r);
                case 10: return kept(r);
                default: return nested(fails, r);
            }
        }
        static Object part(int part, NestedRunnable r) {
            if (part >= 24) return null;
            try { return some(part / 2, part % 2 == 1, r) + log; } catch (E e) { return e.getMessage() + log; }
        }""",
}
