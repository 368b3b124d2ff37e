// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The synchronized blocks of a frame's state machine. A jump cannot enter such a block in the middle. So each block is a
 * method with its own machine for the block's states. The machine around it holds the monitor while that method runs, also
 * when a frame continues at a call inside the block, whose capture has released the monitor.
 */
final class FrameRegions {
    private static final class Region {
        final String method;
        final String monitor;
        final Region outer;
        final StringBuilder text = new StringBuilder();
        final List<Integer> states = new ArrayList<>();

        Region(String method, String monitor, Region outer) {
            this.method = method;
            this.monitor = monitor;
            this.outer = outer;
        }
    }

    private final FrameWriter to;
    private final StringBuilder outside = new StringBuilder();
    private final List<Region> all = new ArrayList<>();
    private Region current;

    FrameRegions(FrameWriter to) {
        this.to = to;
    }

    /** Returns the text of the machine that is being written. */
    StringBuilder text() {
        return current == null ? outside : current.text;
    }

    boolean isInside() {
        return current != null;
    }

    void enterState(int number) {
        for (Region region = current; region != null; region = region.outer) {
            region.states.add(number);
        }
    }

    void enter(String monitor) {
        current = new Region("region$" + to.unit.number + "_" + all.size(), monitor, current);
        all.add(current);
    }

    /** Ends the block. In the surrounding machine, its states lead to the block's method. */
    void leave() {
        Region ended = current;
        current = ended.outer;
        to.put(ended.states.stream().map(state -> "case " + state + ": ").collect(Collectors.joining()));
        to.put("synchronized (" + ended.monitor + ") { " + ended.method + "(); } continue " + to.dispatch() + ";");
    }

    /** Returns the methods. Captures for frames further out leave the methods, and so release the monitors. */
    String methods(String owner, String handlerCases) {
        return all.stream().map(region -> "private void " + region.method + "() { " + to.dispatch() + ": for (;;) { try { switch (state$) {\n"
            + region.text + "default: return; } } catch (Throwable e$) {\nif (e$ instanceof sukima.closures.Capture c$) { if (" + owner
            + " == null || c$.owner() != " + owner + ") { throw c$; } captured$(c$, " + owner + "); continue; }\nswitch (state$) {\n"
            + handlerCases + "default: throw rethrow$(e$); }\n} } }\n").collect(Collectors.joining());
    }
}
