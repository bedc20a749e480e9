// Generator of assignor_divisions.json: computes `expected` of every case again with the assignors
// of kafka-clients and prints the file. Needs Java 17 and Kafka's jars:
//
//     java -cp 'KAFKA/libs/*' tests/golden/AssignorDivisions.java tests/golden/assignor_divisions.json
//
// A member is [id, "its topics", instance id or null, "its partitions" or null, generation]. Names
// of topics are single letters, so that "a0 b12" are partitions.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.common.TopicPartition;

public class AssignorDivisions {
    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        ArrayNode cases = (ArrayNode) json.readTree(new File(args[0]));
        for (JsonNode one : cases) {
            ((ObjectNode) one).set("expected", json.valueToTree(expected(one)));
        }
        System.out.println(json.writeValueAsString(cases));
    }

    static Map<String, String> expected(JsonNode one) {
        Map<String, Integer> partitions = new HashMap<>();
        one.get("topics").properties().forEach(topic -> partitions.put(topic.getKey(), topic.getValue().asInt()));
        String name = one.get("assignor").asText();
        Map<String, Subscription> members = new HashMap<>();
        one.get("members").forEach(member -> members.put(member.get(0).asText(), subscription(name, member)));
        // The leader of a group knows only the topics to which members are subscribed.
        partitions.keySet().retainAll(
            members.values().stream().flatMap(member -> member.topics().stream()).collect(Collectors.toSet()));
        Map<String, String> found = new TreeMap<>();
        assignor(name).assign(partitions, members).forEach((member, list) -> found.put(member, text(list)));
        return found;
    }

    static AbstractPartitionAssignor assignor(String name) {
        return switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
    }

    static Subscription subscription(String assignor, JsonNode member) {
        List<String> topics = List.of(member.get(1).asText().split(" "));
        List<TopicPartition> owned = partitions(member.get(3).isNull() ? "" : member.get(3).asText());
        int generation = member.get(4).asInt();
        // The cooperative assignor reads the fields of the subscription, the eager one its own data.
        boolean cooperative = assignor.equals("cooperative-sticky");
        ByteBuffer data = assignor.equals("sticky") && !owned.isEmpty() ? stickyData(owned, generation) : null;
        Subscription made = new Subscription(
            topics, data, cooperative ? owned : List.of(), cooperative ? generation : -1, Optional.empty());
        made.setGroupInstanceId(Optional.ofNullable(member.get(2).isNull() ? null : member.get(2).asText()));
        return made;
    }

    // Version 1 of the sticky assignor's user data: partitions by topic, then the generation.
    static ByteBuffer stickyData(List<TopicPartition> owned, int generation) {
        Map<String, List<Integer>> byTopic = new TreeMap<>();
        owned.forEach(one -> byTopic.computeIfAbsent(one.topic(), topic -> new ArrayList<>()).add(one.partition()));
        ByteBuffer data = ByteBuffer.allocate(16 * 1024).putInt(byTopic.size());
        byTopic.forEach((topic, numbers) -> {
            byte[] bytes = topic.getBytes(StandardCharsets.UTF_8);
            data.putShort((short) bytes.length).put(bytes).putInt(numbers.size());
            numbers.forEach(data::putInt);
        });
        return data.putInt(generation).flip();
    }

    static List<TopicPartition> partitions(String text) {
        List<TopicPartition> found = new ArrayList<>();
        for (String one : text.isBlank() ? new String[0] : text.split(" ")) {
            found.add(new TopicPartition(one.substring(0, 1), Integer.parseInt(one.substring(1))));
        }
        return found;
    }

    static String text(List<TopicPartition> partitions) {
        return partitions.stream()
            .map(one -> one.topic() + one.partition())
            .sorted((one, other) -> one.charAt(0) != other.charAt(0)
                ? one.charAt(0) - other.charAt(0)
                : Integer.parseInt(one.substring(1)) - Integer.parseInt(other.substring(1)))
            .collect(Collectors.joining(" "));
    }
}
