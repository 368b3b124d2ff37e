// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import java.util.IdentityHashMap;
import java.util.Map;

/** The constructs of a unit's usual form: their blocks in place, and a test whether another worker has sent a request. */
final class FastConstructs {
    private final FastWriter in;
    /** The labels of the blocks, which `return` in the blocks leaves. */
    private final Map<Tree, String> labels = new IdentityHashMap<>();
    private int labelCount;

    FastConstructs(FastWriter in) {
        this.in = in;
    }

    String label(Tree block) {
        return labels.get(block);
    }

    void write(Construct construct) {
        in.put(in.takeLabel() + "{");
        in.scoped(() -> {
            if (construct.isWind()) {
                wind(construct);
            } else if (construct.isLoop()) {
                loop(construct);
            } else {
                poll(construct, in.saved(construct.worker()));
                block(construct.block(0));
                block(construct.block(1));
            }
        });
        in.put("}");
    }

    private void poll(Construct construct, String worker) {
        in.put(Marks.line(in.program.callLine(construct.call)) + in.takeCopies() + "if (" + worker + ".isAsked$) { try { " + worker
            + ".poll$(); } catch (sukima.closures.Capture c$) { " + in.save(in.unit.state(construct.call), null) + " } }");
    }

    private void block(LambdaExpressionTree block) {
        labels.put(block, "block$" + in.unit.number + "_" + labelCount++);
        in.put(labels.get(block) + ": if (true) {");
        in.blockBody(block.getBody());
        in.put("}");
    }

    private void loop(Construct construct) {
        String worker = in.saved(construct.worker());
        String index = in.unit.temporary(construct.call, "index", "int");
        String end = in.unit.temporary(construct.call, "end", "int");
        in.declare(index, "int", "0");
        in.simple(index + " = " + in.value(construct.argument(0)) + ";");
        in.declare(end, "int", "0");
        in.simple(end + " = " + in.value(construct.argument(1)) + ";");
        in.put("for (; " + index + " < " + end + "; " + index + "++) {");
        in.scoped(() -> {
            poll(construct, worker);
            in.put(in.countedTurn(construct.block(0)));
            VariableTree parameter = construct.block(0).getParameters().get(0);
            in.bind(parameter, index, !in.program.variable(parameter).isAssigned);
            block(construct.block(0));
        });
        in.put("}");
    }

    private void wind(Construct construct) {
        block(construct.block(0));
        in.put("try {");
        block(construct.block(1));
        in.put("} catch (sukima.closures.Capture c$) { throw c$; } catch (Throwable e$) {");
        block(construct.block(2));
        in.put("throw sukima.closures.Frame.rethrow$(e$); }");
        block(construct.block(2));
    }
}
