# SPDX-License-Identifier: Apache-2.0
"""The common beginning of the programs of program_generator."""

PRELUDE = """\
import java.util.*;

final class E1 extends Exception {
    E1(String message) { super(message); }
}
final class R1 extends RuntimeException {
    R1(String message) { super(message); }
}
final class Resource implements AutoCloseable {
    final int number;
    Resource(int number) throws E1 {
        Log.add("open " + number);
        if (number % 7 == 6) throw new E1("open");
        this.number = number;
    }
    static Resource of(int number) throws E1 { return number % 5 == 4 ? null : new Resource(number); }
    @Override
    public void close() throws E1 {
        Log.add("close " + number);
        if (number % 3 == 2) throw new R1("close " + number);
        if (number % 3 == 1) throw new E1("close " + number);
    }
}
final class Log {
    static int fuel;
    static StringBuilder text = new StringBuilder();
    static void add(Object value) { if (text.length() < 6000) text.append(value).append(' '); }
    static boolean odd(int x) { return (x & 1) != 0; }
    static int both(int a, int b) { return 3 * a - b; }
    static String join(String a, String b) { return a + '/' + b; }
    static int sum(int... all) { int s = 0; for (int x : all) s = 2 * s + x; return s; }
    static void addAll(Throwable e) {
        add(e.getMessage());
        for (Throwable each : e.getSuppressed()) add("with " + each.getMessage());
    }
    static void check(int x) throws E1 { if (x == 7) throw new E1("check"); }
    static boolean isEmpty() { return --fuel < 0; }
}
"""
