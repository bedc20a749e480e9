// Java's clients behind JSON lines: a request per line on stdin, an answer per line on stdout.
// A request names a handle (a producer, consumer or admin client), an operation and arguments.
// Every handle has a thread of its own, because a KafkaConsumer may be used by one thread only.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class ScenarioClient {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, Object> HANDLES = new ConcurrentHashMap<>();
    static final Map<String, ExecutorService> THREADS = new ConcurrentHashMap<>();
    static final Map<String, Future<RecordMetadata>> DELIVERIES = new ConcurrentHashMap<>();
    static final Map<String, List<ArrayNode>> EVENTS = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonNode request = JSON.readTree(line);
            String handle = request.get("handle").asText();
            THREADS.computeIfAbsent(handle, name -> Executors.newSingleThreadExecutor())
                .submit(() -> answer(request, handle));
        }
        System.exit(0);
    }

    static void answer(JsonNode request, String handle) {
        ObjectNode reply = JSON.createObjectNode();
        reply.set("id", request.get("id"));
        try {
            reply.set("result", call(handle, request.get("op").asText(), request.get("args")));
        } catch (Throwable error) {
            Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
            reply.put("error", cause.getClass().getSimpleName());
            reply.put("code", Errors.forException(cause).code());
            reply.put("text", String.valueOf(cause.getMessage()));
        }
        synchronized (System.out) {
            System.out.println(reply);
            System.out.flush();
        }
    }

    static JsonNode call(String handle, String op, JsonNode args) throws Exception {
        if (op.equals("new")) {
            HANDLES.put(handle, make(args.get("kind").asText(), properties(args.get("config"))));
            return null;
        }
        Object target = HANDLES.get(handle);
        if (target instanceof KafkaProducer) {
            @SuppressWarnings("unchecked")
            KafkaProducer<byte[], byte[]> producer = (KafkaProducer<byte[], byte[]>) target;
            return onProducer(producer, op, args);
        }
        if (target instanceof KafkaConsumer) {
            @SuppressWarnings("unchecked")
            KafkaConsumer<byte[], byte[]> consumer = (KafkaConsumer<byte[], byte[]>) target;
            return onConsumer(handle, consumer, op, args);
        }
        return onAdmin((Admin) target, op, args);
    }

    static Object make(String kind, Properties config) {
        switch (kind) {
            case "producer":
                return new KafkaProducer<>(
                    config, new ByteArraySerializer(), new ByteArraySerializer());
            case "consumer":
                return new KafkaConsumer<>(
                    config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            default:
                return Admin.create(config);
        }
    }

    static JsonNode onProducer(KafkaProducer<byte[], byte[]> producer, String op, JsonNode args)
            throws Exception {
        switch (op) {
            case "send":
                Integer partition = args.get("partition").isNull() ? null : args.get("partition").asInt();
                Long stamp = args.get("timestamp").isNull() ? null : args.get("timestamp").asLong();
                List<Header> headers = new ArrayList<>();
                for (JsonNode pair : args.get("headers")) {
                    headers.add(new RecordHeader(pair.get(0).asText(), bytes(pair.get(1))));
                }
                DELIVERIES.put(args.get("delivery").asText(), producer.send(new ProducerRecord<>(
                    args.get("topic").asText(), partition, stamp,
                    bytes(args.get("key")), bytes(args.get("value")), headers)));
                return null;
            case "delivered":
                RecordMetadata sent = DELIVERIES.get(args.get("delivery").asText())
                    .get((long) (args.get("timeout").asDouble() * 1000), TimeUnit.MILLISECONDS);
                return JSON.createArrayNode().add(sent.topic()).add(sent.partition())
                    .add(sent.hasOffset() ? sent.offset() : -1).add(sent.timestamp());
            case "flush": producer.flush(); return null;
            case "close": producer.close(Duration.ofSeconds(20)); return null;
            case "partitions_for":
                ArrayNode numbers = JSON.createArrayNode();
                producer.partitionsFor(args.get("topic").asText())
                    .stream().map(info -> info.partition()).sorted().forEach(numbers::add);
                return numbers;
            case "init": producer.initTransactions(); return null;
            case "begin": producer.beginTransaction(); return null;
            case "commit": producer.commitTransaction(); return null;
            case "abort": producer.abortTransaction(); return null;
            case "send_offsets":
                producer.sendOffsetsToTransaction(offsets(args.get("offsets")), metadata(args));
                return null;
            default: throw new IllegalArgumentException("no operation " + op);
        }
    }

    static ConsumerGroupMetadata metadata(JsonNode args) throws Exception {
        String consumer = args.get("consumer").asText();
        return THREADS.get(consumer).submit(
            () -> ((KafkaConsumer<?, ?>) HANDLES.get(consumer)).groupMetadata()).get();
    }

    static JsonNode onConsumer(
            String handle, KafkaConsumer<byte[], byte[]> consumer, String op, JsonNode args)
            throws Exception {
        switch (op) {
            case "subscribe":
                List<String> topics = new ArrayList<>();
                args.get("topics").forEach(t -> topics.add(t.isNull() ? null : t.asText()));
                consumer.subscribe(topics, new Listener(handle));
                return null;
            case "subscribe_pattern":
                consumer.subscribe(Pattern.compile(args.get("pattern").asText()), new Listener(handle));
                return null;
            case "events":
                ArrayNode events = JSON.createArrayNode();
                EVENTS.getOrDefault(handle, List.of()).forEach(events::add);
                return events;
            case "unsubscribe": consumer.unsubscribe(); return null;
            case "assign":
                List<TopicPartition> places = new ArrayList<>();
                args.get("partitions").forEach(pair -> places.add(place(pair)));
                consumer.assign(places);
                return null;
            case "assignment": return pairs(consumer.assignment());
            case "poll":
                ArrayNode found = JSON.createArrayNode();
                consumer.poll(Duration.ofMillis((long) (args.get("timeout").asDouble() * 1000)))
                    .forEach(record -> found.add(plain(record)));
                return found;
            case "commit":
                if (args.get("offsets").isNull()) consumer.commitSync();
                else consumer.commitSync(offsets(args.get("offsets")));
                return null;
            case "close": consumer.close(); return null;
            default: return onPartition(consumer, op, place(args.get("partition")), args);
        }
    }

    static JsonNode onPartition(
            KafkaConsumer<byte[], byte[]> consumer, String op, TopicPartition place, JsonNode args) {
        Set<TopicPartition> one = Set.of(place);
        switch (op) {
            case "committed":
                OffsetAndMetadata at = consumer.committed(one).get(place);
                return at == null ? null : JSON.getNodeFactory().numberNode(at.offset());
            case "position": return JSON.getNodeFactory().numberNode(consumer.position(place));
            case "seek": consumer.seek(place, args.get("offset").asLong()); return null;
            case "seek_to_beginning": consumer.seekToBeginning(one); return null;
            case "seek_to_end": consumer.seekToEnd(one); return null;
            case "pause": consumer.pause(one); return null;
            case "resume": consumer.resume(one); return null;
            case "beginning_offset":
                return JSON.getNodeFactory().numberNode(consumer.beginningOffsets(one).get(place));
            case "end_offset":
                return JSON.getNodeFactory().numberNode(consumer.endOffsets(one).get(place));
            case "offset_for_time":
                OffsetAndTimestamp when = consumer.offsetsForTimes(
                    Map.of(place, args.get("timestamp").asLong())).get(place);
                return when == null ? null : JSON.getNodeFactory().numberNode(when.offset());
            default: throw new IllegalArgumentException("no operation " + op);
        }
    }

    static JsonNode onAdmin(Admin admin, String op, JsonNode args) throws Exception {
        String name = args.has("name") ? args.get("name").asText() : "";
        switch (op) {
            case "create_topic":
                Map<String, String> configs = new HashMap<>();
                args.get("configs").fields().forEachRemaining(
                    entry -> configs.put(entry.getKey(), entry.getValue().asText()));
                admin.createTopics(List.of(new NewTopic(
                    name, Optional.of(args.get("partitions").asInt()), Optional.empty())
                    .configs(configs))).all().get();
                return null;
            case "delete_topic": admin.deleteTopics(List.of(name)).all().get(); return null;
            case "create_partitions":
                admin.createPartitions(Map.of(
                    name, NewPartitions.increaseTo(args.get("total").asInt()))).all().get();
                return null;
            case "topics": return words(admin.listTopics().names().get());
            case "partitions":
                ArrayNode numbers = JSON.createArrayNode();
                admin.describeTopics(List.of(name)).allTopicNames().get().get(name).partitions()
                    .forEach(info -> numbers.add(info.partition()));
                return numbers;
            case "topic_config":
                ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, name);
                return JSON.getNodeFactory().textNode(admin.describeConfigs(List.of(topic)).all()
                    .get().get(topic).get(args.get("key").asText()).value());
            case "alter_topic_config":
                admin.incrementalAlterConfigs(Map.of(
                    new ConfigResource(ConfigResource.Type.TOPIC, name),
                    List.of(new AlterConfigOp(
                        new ConfigEntry(args.get("key").asText(), args.get("value").asText()),
                        AlterConfigOp.OpType.SET)))).all().get();
                return null;
            case "delete_records":
                TopicPartition place = place(args.get("partition"));
                return JSON.getNodeFactory().numberNode(admin.deleteRecords(Map.of(
                    place, RecordsToDelete.beforeOffset(args.get("before").asLong())))
                    .lowWatermarks().get(place).get().lowWatermark());
            case "brokers":
                return JSON.getNodeFactory().numberNode(admin.describeCluster().nodes().get().size());
            case "close": admin.close(); return null;
            default: return onGroups(admin, op, name, args);
        }
    }

    static JsonNode onGroups(Admin admin, String op, String name, JsonNode args) throws Exception {
        switch (op) {
            case "groups":
                ArrayNode groups = JSON.createArrayNode();
                admin.listGroups().all().get().forEach(listing -> groups.add(listing.groupId()));
                return groups;
            case "group":
                ConsumerGroupDescription group =
                    admin.describeConsumerGroups(List.of(name)).all().get().get(name);
                return JSON.createArrayNode()
                    .add(group.groupState().toString()).add(group.members().size());
            case "group_offsets":
                ArrayNode found = JSON.createArrayNode();
                admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata().get()
                    .forEach((place, at) -> found.add(JSON.createArrayNode()
                        .add(place.topic()).add(place.partition()).add(at.offset())));
                return found;
            case "alter_group_offsets":
                admin.alterConsumerGroupOffsets(name, offsets(args.get("offsets"))).all().get();
                return null;
            case "delete_group":
                admin.deleteConsumerGroups(List.of(name)).all().get();
                return null;
            default: throw new IllegalArgumentException("no operation " + op);
        }
    }

    static class Listener implements ConsumerRebalanceListener {
        final List<ArrayNode> events = new ArrayList<>();

        Listener(String handle) {
            EVENTS.put(handle, events);
        }

        void add(String word, Collection<TopicPartition> partitions) {
            events.add(JSON.createArrayNode().add(word).add(pairs(partitions)));
        }

        @Override public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            add("assigned", partitions);
        }

        @Override public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            add("revoked", partitions);
        }

        @Override public void onPartitionsLost(Collection<TopicPartition> partitions) {
            add("lost", partitions);
        }
    }

    static JsonNode plain(ConsumerRecord<byte[], byte[]> record) {
        ArrayNode headers = JSON.createArrayNode();
        record.headers().forEach(header -> headers.add(
            JSON.createArrayNode().add(header.key()).add(text(header.value()))));
        ArrayNode fields = JSON.createArrayNode().add(record.topic()).add(record.partition())
            .add(record.offset()).add(text(record.key())).add(text(record.value()));
        return fields.add(headers).add(record.timestamp());
    }

    static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode triples) {
        Map<TopicPartition, OffsetAndMetadata> found = new HashMap<>();
        triples.forEach(item -> found.put(
            place(item), new OffsetAndMetadata(item.get(2).asLong())));
        return found;
    }

    static TopicPartition place(JsonNode pair) {
        return new TopicPartition(pair.get(0).asText(), pair.get(1).asInt());
    }

    static ArrayNode pairs(Collection<TopicPartition> partitions) {
        ArrayNode found = JSON.createArrayNode();
        partitions.forEach(place -> found.add(
            JSON.createArrayNode().add(place.topic()).add(place.partition())));
        return found;
    }

    static ArrayNode words(Collection<String> texts) {
        ArrayNode found = JSON.createArrayNode();
        texts.forEach(found::add);
        return found;
    }

    static byte[] bytes(JsonNode text) {
        return text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }

    static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }

    static Properties properties(JsonNode config) {
        Properties found = new Properties();
        config.fields().forEachRemaining(
            entry -> found.put(entry.getKey(), entry.getValue().asText()));
        return found;
    }
}
