// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InvalidClassException;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;
import java.io.StreamCorruptedException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** Saves the methods that wait for the running one in a file, and continues them, possibly in another virtual machine. */
public final class Checkpoint {
    private static final String FORMAT = "sukima checkpoint 1";

    private Checkpoint() {}

    /**
     * Saves the methods from the owner of the nested function to the caller, with all objects to which their variables
     * refer. Returns true. When {@link #resume} continues the methods, the same call returns false. The file is replaced
     * only after all data is written.
     */
    @Capturing
    public static boolean save(Nested function, File file) {
        Owner owner = Sleeping.owner(function, "Checkpoint.save");
        List<Frame> frames = new ArrayList<>();
        for (Frame frame = owner.enterCollected(); frame != null; frame = frame.below$) {
            frames.add(frame);
        }
        if (owner.takeRestored()) {
            return false;
        }
        try {
            Path target = file.getAbsoluteFile().toPath();
            Path folder = target.getParent();
            if (folder == null) {
                throw new IOException("it is the root folder");
            }
            Path part = Files.createTempFile(folder, file.getName(), ".part");
            try {
                write(owner, frames, part);
                Files.move(part, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the checkpoint " + file + " cannot be written: " + e, e);
        }
        return true;
    }

    private static void write(Owner owner, List<Frame> frames, Path part) throws IOException {
        try (Output out = new Output(Files.newOutputStream(part), owner, frames)) {
            out.writeObject(FORMAT);
            out.writeInt(frames.size());
            for (Frame frame : frames) {
                out.write(frame);
            }
            out.writeObject(owner);
        }
    }

    /**
     * Continues the methods that are saved in the file, and returns the result of the outermost method, null for void. Only
     * read files that you trust: like all serialized objects they can run any code.
     */
    public static Object resume(File file) {
        Frame outermost;
        // Two resources: the constructor of the second one reads, and throws if the file is not a checkpoint.
        try (InputStream bytes = Files.newInputStream(file.toPath()); Input in = new Input(bytes)) {
            outermost = read(in, file);
        } catch (StreamCorruptedException e) {
            throw notOne(file);
        } catch (EOFException e) {
            throw new IllegalArgumentException("the end of the checkpoint " + file + " is missing: use a whole file that "
                + "Checkpoint.save has written", e);
        } catch (InvalidClassException | ClassNotFoundException e) {
            throw changed(file, e.getMessage());
        } catch (IOException e) {
            throw new UncheckedIOException("the checkpoint " + file + " cannot be read: " + e, e);
        }
        return outermost.resume$();
    }

    private static Frame read(ObjectInputStream in, File file) throws IOException, ClassNotFoundException {
        if (!FORMAT.equals(in.readObject())) {
            throw notOne(file);
        }
        Frame[] frames = new Frame[in.readInt()];
        for (int i = 0; i < frames.length; i++) {
            String saved = (String) in.readObject();
            frames[i] = (Frame) in.readObject();
            if (!saved.equals(ClassDigest.of(frames[i].getClass()))) {
                throw changed(file, frames[i].getClass().getName());
            }
        }
        for (int i = 1; i < frames.length; i++) {
            frames[i - 1].inner$ = frames[i];
            frames[i - 1].below$ = frames[i];
        }
        ((Owner) in.readObject()).restored();
        return frames[0];
    }

    private static IllegalArgumentException notOne(File file) {
        return new IllegalArgumentException(file + " is not a checkpoint: use a file that Checkpoint.save has written");
    }

    private static IllegalStateException changed(File file, String name) {
        return new IllegalStateException("the program has changed since the checkpoint " + file + " was written (" + name
            + "): run the classes that wrote it");
    }

    /** Looks up classes as the calling thread does, because the runtime's own loader may not know the program's classes. */
    private static final class Input extends ObjectInputStream {
        Input(InputStream in) throws IOException {
            super(in);
        }

        @Override
        protected Class<?> resolveClass(ObjectStreamClass described) throws IOException, ClassNotFoundException {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            try {
                return Class.forName(described.getName(), false, loader);
            } catch (ClassNotFoundException e) {
                return super.resolveClass(described);
            }
        }
    }

    /** Writes one frame after the other, so that deep recursion in the program does not cause recursion in the writer. */
    private static final class Output extends ObjectOutputStream {
        private final Owner owner;
        private final List<Frame> frames;
        private Frame current;

        Output(OutputStream out, Owner owner, List<Frame> frames) throws IOException {
            super(out);
            this.owner = owner;
            this.frames = frames;
            enableReplaceObject(true);
        }

        void write(Frame frame) throws IOException {
            current = frame;
            try {
                writeObject(ClassDigest.of(frame.getClass()));
                writeObject(frame);
            } catch (NotSerializableException e) {
                throw refusal("an object of the class " + e.getMessage() + ", which does not implement java.io.Serializable");
            }
        }

        /** Checks each object before it is written. */
        @Override
        protected Object replaceObject(Object object) {
            if (object instanceof Owner other && !other.hasEnded() && frames.stream().noneMatch(other::isAsleepIn)) {
                throw refusal("a nested function of " + other.method() + ", which is not among the methods from " + owner.method() + " on");
            }
            return object;
        }

        private IllegalStateException refusal(String object) {
            return new IllegalStateException("the method " + current.method$() + " cannot be saved: a variable refers to " + object
                + "; remove the reference before Checkpoint.save is called");
        }
    }
}
