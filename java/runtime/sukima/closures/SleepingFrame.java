// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.LinkedHashMap;
import java.util.Map;

/** A method that waits for another one, with its variables. */
public final class SleepingFrame {
    private final Frame frame;

    SleepingFrame(Frame frame) {
        this.frame = frame;
    }

    /** Returns the class and the name of the method, such as {@code Search.place}. */
    public String method() {
        return frame.method$();
    }

    /** Returns the source line in which the method waits. */
    public int line() {
        return frame.line$();
    }

    /** Returns the variables with their current values. A second variable of the same name appears as {@code name#2}. */
    public Map<String, Object> variables() {
        Map<String, Object> values = new LinkedHashMap<>();
        fields().forEach((name, field) -> values.put(name, read(field)));
        return values;
    }

    /** Changes a variable. The method sees the new value when it continues. */
    public void set(String name, Object value) {
        Field field = fields().get(name);
        if (field == null) {
            throw new IllegalArgumentException(method() + " has no variable " + name + "; it has " + fields().keySet());
        }
        try {
            field.set(frame, value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the variable " + name + " of " + method() + " has the type "
                + field.getType().getTypeName() + ", so it cannot get "
                + (value == null ? "null" : "an object of " + value.getClass()), e);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private Object read(Field field) {
        try {
            return field.get(frame);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns the fields of variables, by name. The generated name of a variable is {@code name$v7}; other fields are
     * internal.
     */
    private Map<String, Field> fields() {
        Map<String, Field> found = new LinkedHashMap<>();
        for (Field field : frame.getClass().getDeclaredFields()) {
            int end = field.getName().lastIndexOf("$v");
            if (end <= 0 || Modifier.isStatic(field.getModifiers())) {
                continue;
            }
            field.setAccessible(true);
            String name = field.getName().substring(0, end);
            String unique = name;
            for (int i = 2; found.containsKey(unique); i++) {
                unique = name + "#" + i;
            }
            found.put(unique, field);
        }
        return found;
    }
}
