// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Distinguishes two versions of a class, because the states of a saved frame belong to one version. */
final class ClassDigest {
    private static final ClassValue<String> KNOWN = new ClassValue<>() {
        @Override
        protected String computeValue(Class<?> type) {
            try {
                return digest(type);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    private ClassDigest() {}

    /** Returns the SHA-256 of the class file. Throws IOException if the class's loader does not supply the file. */
    static String of(Class<?> type) throws IOException {
        try {
            return KNOWN.get(type);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static String digest(Class<?> type) throws IOException {
        String name = type.getName();
        try (InputStream in = type.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
            if (in == null) {
                throw new IOException("the loader of the class " + name + " does not provide its class file");
            }
            return new BigInteger(1, MessageDigest.getInstance("SHA-256").digest(in.readAllBytes())).toString(16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // each Java platform has this algorithm
        }
    }
}
