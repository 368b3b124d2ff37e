// SPDX-License-Identifier: Apache-2.0
import sukima.tascell.Task;
import sukima.tascell.Worker;
import sukima.tascell.Workers;

/** Ends a search at its first solution, which an exception carries out of it. All tasks are aborted then. */
public final class FirstSolution implements Task<Void> {
    private static final class Found extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient int[] columnOf;

        Found(int[] columnOf) {
            super("a solution");
            this.columnOf = columnOf;
        }
    }

    private final int[] columnOf;
    private final int row;
    private final int from;
    private final int to;

    private FirstSolution(int[] columnOf, int row, int from, int to) {
        this.columnOf = columnOf;
        this.row = row;
        this.from = from;
        this.to = to;
    }

    @Override
    public Void run(Worker worker) {
        search(worker, row, from, to);
        return null;
    }

    private void search(Worker worker, int at, int first, int end) {
        worker.doMany(first, end, column -> {
            if (!isFree(columnOf, at, column)) {
                return;
            }
            columnOf[at] = column; // nothing to undo: a part looks only at the rows before its own
            if (at + 1 == columnOf.length) {
                throw new Found(columnOf.clone());
            }
            search(worker, at + 1, 0, columnOf.length);
        }, (low, high) -> new FirstSolution(columnOf.clone(), at, low, high), result -> { });
    }

    private static boolean isFree(int[] columnOf, int at, int column) {
        for (int i = 0; i < at; i++) {
            if (columnOf[i] == column || Math.abs(columnOf[i] - column) == at - i) {
                return false;
            }
        }
        return true;
    }

    public static void main(String[] arguments) {
        int size = 16;
        try {
            Workers.run(new FirstSolution(new int[size], 0, 0, size));
            System.out.println("no solution");
        } catch (Found e) {
            boolean isSolution = true;
            for (int at = 0; at < size; at++) {
                isSolution &= isFree(e.columnOf, at, e.columnOf[at]);
            }
            System.out.println(size + " queens: " + (isSolution ? "placed" : "wrong"));
        }
    }
}
