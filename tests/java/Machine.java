// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import javax.tools.ToolProvider;

/**
 * Compiles and runs programs one after another in one virtual machine; machine.py starts it. A request is a line of words with U+001F
 * between them. The answer is a line with the exit code and the lengths of stdout and stderr, followed by these.
 */
final class Machine {
    private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();

    private Machine() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = line.split("\u001f", -1);
            ByteArrayOutputStream output = new ByteArrayOutputStream();
            ByteArrayOutputStream errors = new ByteArrayOutputStream();
            System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
            int code = answer(words[0], Arrays.copyOfRange(words, 1, words.length));
            System.out.flush();
            System.err.flush();
            answers.print(code + " " + output.size() + " " + errors.size() + "\n");
            output.writeTo(answers);
            errors.writeTo(answers);
            answers.flush();
        }
    }

    private static int answer(String command, String[] arguments) throws Exception {
        switch (command) {
            case "sukima-javac": return compile(arguments);
            case "javac": return ToolProvider.getSystemJavaCompiler().run(null, System.out, System.err, arguments);
            case "java": return run(arguments[0], arguments[1], Arrays.copyOfRange(arguments, 2, arguments.length));
            default: throw new IllegalArgumentException(command);
        }
    }

    /** As the command does; its class is not public. */
    private static int compile(String[] arguments) throws Exception {
        Class<?> compilation = Class.forName("sukima.translator.Compilation");
        Constructor<?> create = compilation.getDeclaredConstructor();
        Method run = compilation.getDeclaredMethod("run", String[].class);
        create.setAccessible(true);
        run.setAccessible(true);
        try {
            return (Integer) run.invoke(create.newInstance(), (Object) arguments);
        } catch (InvocationTargetException e) {
            return failure(e.getCause());
        }
    }

    /** Runs a program with classes of its own, also of Sukima's runtime, on a thread of its own. */
    private static int run(String classPath, String name, String[] arguments) throws Exception {
        try (URLClassLoader classes = new URLClassLoader(urls(classPath), PLATFORM)) {
            Method main = classes.loadClass(name).getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            int[] code = {0};
            Thread thread = new Thread(() -> code[0] = call(main, arguments), "main");
            thread.setContextClassLoader(classes);
            thread.start();
            thread.join();
            return code[0];
        }
    }

    private static int call(Method main, String[] arguments) {
        try {
            main.invoke(null, (Object) arguments);
            return 0;
        } catch (InvocationTargetException e) {
            return failure(e.getCause());
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** What a machine does when its main thread ends by an exception. */
    private static int failure(Throwable exception) {
        System.err.print("Exception in thread \"main\" ");
        exception.printStackTrace();
        return 1;
    }

    private static URL[] urls(String classPath) throws IOException {
        String[] places = classPath.split(File.pathSeparator);
        URL[] urls = new URL[places.length];
        for (int i = 0; i < places.length; i++) {
            urls[i] = Path.of(places[i]).toUri().toURL();
        }
        return urls;
    }
}
