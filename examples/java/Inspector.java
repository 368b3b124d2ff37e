// SPDX-License-Identifier: Apache-2.0
import sukima.closures.NestedConsumer;
import sukima.closures.Sleeping;
import sukima.closures.SleepingFrame;

/** Lists the variables of all methods that wait, and changes one of them: a search stops early. */
public final class Inspector {
    private int visited;

    private int search(int depth, int most, NestedConsumer<Integer> atLeaf) {
        visited++;
        if (depth == most) {
            atLeaf.accept(visited);
            return 1;
        }
        int found = 0;
        for (int branch = 0; branch < 3; branch++) {
            found += search(depth + 1, most, atLeaf);
        }
        return found;
    }

    private int run() {
        int reports = 0;
        NestedConsumer<Integer> inspect = null;
        inspect = count -> {
            reports++;
            if (count != 5) {
                return;
            }
            for (SleepingFrame frame : Sleeping.frames(inspect)) {
                System.out.println(frame.method() + " in line " + frame.line() + ": " + shown(frame));
                if (frame.variables().containsKey("branch")) {
                    frame.set("branch", 2); // the loops of all waiting methods end with this branch
                }
            }
        };
        int found = search(0, 3, inspect);
        System.out.println("found " + found + " of 27, after " + reports + " reports");
        return found;
    }

    private static String shown(SleepingFrame frame) {
        StringBuilder text = new StringBuilder();
        frame.variables().forEach((name, value) -> {
            if (value instanceof Integer) {
                text.append(name).append(" = ").append(value).append("  ");
            }
        });
        return text.toString().strip();
    }

    public static void main(String[] arguments) {
        System.exit(new Inspector().run() > 0 ? 0 : 1);
    }
}
