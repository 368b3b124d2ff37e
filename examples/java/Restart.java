// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import sukima.closures.Checkpoint;
import sukima.closures.NestedRunnable;

/** A search that saves itself in a file and continues in another virtual machine. Run it twice with the same new file. */
public final class Restart {
    private static int place(int[] columnOf, int at, NestedRunnable atSolution) {
        if (at == columnOf.length) {
            atSolution.run();
            return 1;
        }
        int found = 0;
        for (int column = 0; column < columnOf.length; column++) {
            columnOf[at] = column;
            if (isFree(columnOf, at)) {
                found += place(columnOf, at + 1, atSolution);
            }
        }
        return found;
    }

    private static boolean isFree(int[] columnOf, int at) {
        for (int i = 0; i < at; i++) {
            if (columnOf[i] == columnOf[at] || Math.abs(columnOf[i] - columnOf[at]) == at - i) {
                return false;
            }
        }
        return true;
    }

    private static int count(int size, File file) {
        int solutions = 0;
        NestedRunnable atSolution = null;
        atSolution = () -> {
            solutions++;
            if (solutions == 40) {
                if (Checkpoint.save(atSolution, file)) {
                    System.out.println("saved after 40 solutions");
                    System.exit(0);
                }
                System.out.println("going on after 40 solutions"); // in the other virtual machine
            }
        };
        return place(new int[size], 0, atSolution);
    }

    public static void main(String[] arguments) {
        File file = new File(arguments.length == 1 ? arguments[0] : "restart.checkpoint");
        int found = file.exists() ? (int) Checkpoint.resume(file) : count(8, file);
        System.out.println("8 queens: " + found + " ways");
    }
}
