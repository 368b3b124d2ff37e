// SPDX-License-Identifier: Apache-2.0
import sukima.tascell.Task;
import sukima.tascell.Worker;
import sukima.tascell.Workers;

/** Adds up the values of a tree that is far from balanced. */
public final class TreeSum {
    private record Node(long value, Node left, Node right) {}

    private record Part(Node tree) implements Task<Long> {
        @Override
        public Long run(Worker worker) {
            return sum(worker, tree);
        }
    }

    private static long sum(Worker worker, Node tree) {
        if (tree == null) {
            return 0;
        }
        long left = 0;
        long right = 0;
        worker.doTwo(
            () -> left = sum(worker, tree.left()),
            () -> right = sum(worker, tree.right()),
            () -> new Part(tree.right()),
            result -> right = result);
        return tree.value() + left + right;
    }

    /** A tree of the numbers from {@code first} to {@code end - 1}, of which the left part gets one in ten. */
    private static Node tree(long first, long end) {
        if (first >= end) {
            return null;
        }
        long middle = first + (end - first) / 10;
        return new Node(middle, tree(first, middle), tree(middle + 1, end));
    }

    public static void main(String[] arguments) {
        System.out.println("sum: " + Workers.run(new Part(tree(0, 200_000))));
    }
}
