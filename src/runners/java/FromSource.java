import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.OutputStream;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Starts the runner where stepbox was built without a JDK: compiles its source into memory.
 *
 * <p>Java's launcher compiles this file alone, since it takes no more than one (until Java 22).
 */
public final class FromSource {
    private FromSource() {}

    public static void main(String[] words) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            System.err.println("The Java that is installed is no JDK: it has no compiler.");
            System.exit(1);
        }
        File[] sources =
                new File(words[0])
                        .listFiles(
                                (folder, name) ->
                                        name.endsWith(".java") && !name.equals("FromSource.java"));
        StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        Memory memory = new Memory(files);
        List<String> options = List.of("-proc:none", "-nowarn");
        Iterable<? extends JavaFileObject> units = files.getJavaFileObjects(sources);
        if (!compiler.getTask(null, memory, null, options, null, units).call()) {
            System.exit(1);
        }
        Class<?> main = new Loader(memory.classes).loadClass("stepbox.runner.Main");
        main.getMethod("main", String[].class).invoke(null, (Object) words);
    }

    /** Takes what the compiler writes. */
    private static final class Memory extends ForwardingJavaFileManager<JavaFileManager> {
        final Map<String, ByteArrayOutputStream> classes = new HashMap<>();

        Memory(JavaFileManager files) {
            super(files);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            classes.put(name, bytes);
            URI address = URI.create("memory:///" + name.replace('.', '/') + kind.extension);
            return new SimpleJavaFileObject(address, kind) {
                @Override
                public OutputStream openOutputStream() {
                    return bytes;
                }
            };
        }
    }

    private static final class Loader extends ClassLoader {
        private final Map<String, ByteArrayOutputStream> classes;

        Loader(Map<String, ByteArrayOutputStream> classes) {
            super(ClassLoader.getSystemClassLoader());
            this.classes = classes;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            ByteArrayOutputStream bytes = classes.remove(name);
            if (bytes == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] code = bytes.toByteArray();
            return defineClass(name, code, 0, code.length);
        }
    }
}
