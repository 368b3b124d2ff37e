// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import sukima.tascell.Task;
import sukima.tascell.Worker;
import sukima.tascell.Workers;

/** Counts the ways to cover a board of 3 x 20 squares with the 12 pentominoes. */
public final class Pentomino implements Task<Integer> {
    private static final int HEIGHT = 3;
    private static final int WIDTH = 20;
    /** Squares of a piece as row and column; the rows are separated by slashes. */
    private static final String[] SHAPES = {"##/##/#.", "#####", "####/#...", "####/.#..", "###./..##", "###/#.#", "###/.#./.#.",
        "###/#../#..", "##./.##/..#", ".#./###/.#.", "##./.#./.##", ".##/##./.#."};
    private static final List<List<int[]>> ORIENTATIONS = orientations();

    private final int[] board;
    private final boolean[] isUsed;
    private final int square;
    private final int from;
    private final int to;

    /** The part of a search that covers the square with the pieces from {@code from} to {@code to - 1}. */
    private Pentomino(int[] board, boolean[] isUsed, int square, int from, int to) {
        this.board = board;
        this.isUsed = isUsed;
        this.square = square;
        this.from = from;
        this.to = to;
    }

    @Override
    public Integer run(Worker worker) {
        return search(worker, square, from, to);
    }

    private int search(Worker worker, int at, int first, int end) {
        int found = 0;
        worker.doMany(first, end, piece -> {
            if (isUsed[piece]) {
                return;
            }
            for (int[] squares : ORIENTATIONS.get(piece)) {
                if (!fits(squares, at)) {
                    continue;
                }
                worker.dynamicWind(
                    () -> place(piece, squares, at, true),
                    () -> {
                        int next = firstEmpty(at);
                        found += next < 0 ? 1 : search(worker, next, 0, SHAPES.length);
                    },
                    () -> place(piece, squares, at, false));
            }
        },
            (low, high) -> new Pentomino(board.clone(), isUsed.clone(), at, low, high),
            result -> found += result);
        return found;
    }

    /** Squares are numbered column by column; those of an orientation follow its first one. */
    private boolean fits(int[] squares, int at) {
        for (int each : squares) {
            int row = at % HEIGHT + each / WIDTH - HEIGHT;
            int column = at / HEIGHT + each % WIDTH;
            if (row < 0 || row >= HEIGHT || column >= WIDTH || board[column * HEIGHT + row] != 0) {
                return false;
            }
        }
        return true;
    }

    private void place(int piece, int[] squares, int at, boolean isPlaced) {
        isUsed[piece] = isPlaced;
        for (int each : squares) {
            board[(at / HEIGHT + each % WIDTH) * HEIGHT + at % HEIGHT + each / WIDTH - HEIGHT] = isPlaced ? piece + 1 : 0;
        }
    }

    private int firstEmpty(int after) {
        for (int i = after; i < board.length; i++) {
            if (board[i] == 0) {
                return i;
            }
        }
        return -1;
    }

    /** The squares of each orientation relative to its first one, as (row + HEIGHT) * WIDTH + column. */
    private static List<List<int[]>> orientations() {
        List<List<int[]>> all = new ArrayList<>();
        for (String shape : SHAPES) {
            List<int[]> ofPiece = new ArrayList<>();
            TreeSet<String> known = new TreeSet<>();
            for (int turn = 0; turn < 8; turn++) {
                int[] squares = turned(shape, turn);
                if (squares != null && known.add(java.util.Arrays.toString(squares))) {
                    ofPiece.add(squares);
                }
            }
            all.add(ofPiece);
        }
        return all;
    }

    /** Null if the turned shape is too high for the board. */
    private static int[] turned(String shape, int turn) {
        List<int[]> points = new ArrayList<>();
        String[] rows = shape.split("/");
        for (int y = 0; y < rows.length; y++) {
            for (int x = 0; x < rows[y].length(); x++) {
                if (rows[y].charAt(x) == '#') {
                    int a = (turn & 1) == 0 ? x : -x;
                    int b = (turn & 2) == 0 ? y : -y;
                    points.add((turn & 4) == 0 ? new int[] {a, b} : new int[] {b, a});
                }
            }
        }
        points.sort((p, q) -> p[0] != q[0] ? p[0] - q[0] : p[1] - q[1]);
        int[] origin = points.get(0);
        int[] squares = new int[points.size()];
        for (int i = 0; i < squares.length; i++) {
            int row = points.get(i)[1] - origin[1] + HEIGHT;
            if (row <= 0 || row >= 2 * HEIGHT) {
                return null;
            }
            squares[i] = row * WIDTH + points.get(i)[0] - origin[0];
        }
        return squares;
    }

    public static void main(String[] arguments) {
        Pentomino all = new Pentomino(new int[HEIGHT * WIDTH], new boolean[SHAPES.length], 0, 0, SHAPES.length);
        System.out.println("ways to cover " + HEIGHT + " x " + WIDTH + " squares: " + Workers.run(all));
    }
}
