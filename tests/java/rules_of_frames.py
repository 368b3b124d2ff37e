# SPDX-License-Identifier: Apache-2.0
"""Programs of rules_test.py whose frames have many variables, or variables of unusual types."""

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
}
