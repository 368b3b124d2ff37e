// SPDX-License-Identifier: Apache-2.0
import sukima.tascell.Task;
import sukima.tascell.Worker;
import sukima.tascell.Workers;

/** Counts the ways to place queens on a board. Each worker has one board, on which it places and removes them. */
public final class Queens implements Task<Integer> {
    private final int[] columnOf;
    private final int row;
    private final int from;
    private final int to;

    /** The part of the search that places the queen of that row in the columns from {@code from} to {@code to - 1}. */
    private Queens(int[] columnOf, int row, int from, int to) {
        this.columnOf = columnOf;
        this.row = row;
        this.from = from;
        this.to = to;
    }

    @Override
    public Integer run(Worker worker) {
        return search(worker, row, from, to);
    }

    private int search(Worker worker, int at, int first, int end) {
        int found = 0;
        worker.doMany(first, end, column -> {
            if (!isFree(at, column)) {
                return;
            }
            worker.dynamicWind(
                () -> columnOf[at] = column,
                () -> found += at + 1 == columnOf.length ? 1 : search(worker, at + 1, 0, columnOf.length),
                () -> columnOf[at] = -1); // also before a part of an earlier row is given away
        },
            (low, high) -> new Queens(columnOf.clone(), at, low, high),
            result -> found += result);
        return found;
    }

    private boolean isFree(int at, int column) {
        for (int i = 0; i < at; i++) {
            if (columnOf[i] == column || Math.abs(columnOf[i] - column) == at - i) {
                return false;
            }
        }
        return true;
    }

    public static void main(String[] arguments) {
        int size = 10;
        int[] empty = new int[size];
        java.util.Arrays.fill(empty, -1);
        System.out.println(size + " queens: " + Workers.run(new Queens(empty, 0, 0, size)) + " ways");
    }
}
