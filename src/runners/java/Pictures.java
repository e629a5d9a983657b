package stepbox.runner;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Base64;

/** Pictures, which are shown as such: what chart libraries draw into, and what ImageIO reads. */
final class Pictures {
    private Pictures() {}

    /** In PNG and base64; null for what is no picture. */
    static String png(Object value) {
        // The rest loads the classes of java.desktop, which few steps need.
        if (value == null || !value.getClass().getName().startsWith("java.awt.image.")) {
            return null;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            if (value instanceof java.awt.image.RenderedImage image
                    && javax.imageio.ImageIO.write(image, "png", bytes)) {
                return Base64.getEncoder().encodeToString(bytes.toByteArray());
            }
        } catch (IOException e) {
            // it has its text
        }
        return null;
    }
}
