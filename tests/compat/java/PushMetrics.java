import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Produces records until standard input ends; the client pushes its metrics without any setting. */
public class PushMetrics {
    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("client.id", "java-client");
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            while (System.in.available() == 0) {
                producer.send(new ProducerRecord<>(arguments[1], "value")).get();
                Thread.sleep(100);
            }
        }
    }
}
