import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Java's clients on groups and transactions. Prints a line per question: what was asked, a tab, and
 * what came of it in words that do not change from run to run. The caller knows what Apache Kafka
 * answers.
 *
 * <p>Usage: java GroupsAndTransactions.java BOOTSTRAP PREFIX
 */
public class GroupsAndTransactions {
  private static final long PATIENCE_MS = 60_000;
  private static final int PARTITIONS = 6;
  private static final int RECORDS = 60;

  private final String bootstrap;
  private final String prefix;
  private final Admin admin;

  private GroupsAndTransactions(String bootstrap, String prefix) {
    this.bootstrap = bootstrap;
    this.prefix = prefix;
    this.admin = Admin.create(settings());
  }

  public static void main(String[] arguments) throws Exception {
    GroupsAndTransactions judge = new GroupsAndTransactions(arguments[0], arguments[1]);
    judge.askAll();
    judge.admin.close();
  }

  private void askAll() {
    String sticky = CooperativeStickyAssignor.class.getName();
    ask("share, classic", () -> share("a"));
    ask("share, cooperative", () -> share("b", "partition.assignment.strategy", sticky));
    ask("share, consumer", () -> share("c", "group.protocol", "consumer"));
    String[] range = {"group.protocol", "consumer", "group.remote.assignor", "range"};
    ask("share, range", () -> share("d", range));
    ask("pattern", this::pattern);
    ask("bad pattern", () -> poll("e", new SubscriptionPattern("(")));
    ask("static, classic", () -> staticMember("f", "classic"));
    ask("static, consumer", () -> staticMember("g", "consumer"));
    ask("bad session", this::badSession);
    ask("migration", this::migration);
    ask("live group deleted", this::deleteLiveGroup);
    ask("member removed", this::removeMember);
    ask("transactions", this::transactions);
    ask("offsets, classic", () -> offsetsInTransactions("h", "classic"));
    ask("offsets, consumer", () -> offsetsInTransactions("i", "consumer"));
    ask("zombie", this::zombie);
    ask("fenced by admin", this::fencedByAdmin);
    ask("aborted by admin", this::abortedByAdmin);
    ask("timed out", this::timedOut);
    ask("long timeout", this::longTimeout);
  }

  // --- groups ---

  /** Three members share, one leaves, and everything is committed. */
  private String share(String name, String... options) throws Exception {
    String topic = topic(name, PARTITIONS);
    fill(topic, RECORDS);
    List<Member> members = new ArrayList<>();
    Set<String> seen = ConcurrentHashMap.newKeySet();
    for (int number = 0; number < 3; number++) {
      members.add(new Member(topic, seen, options));
    }
    until(() -> seen.size() == RECORDS && members.stream().allMatch(m -> m.owned == 2));
    members.get(0).leave();
    until(() -> members.subList(1, 3).stream().allMatch(m -> m.owned == 3));
    var group = admin.describeConsumerGroups(List.of(topic)).all().get().get(topic);
    for (Member member : members) {
      member.leave();
    }
    return String.join(
        " ",
        group.type().toString(),
        group.groupState().toString(),
        group.partitionAssignor(),
        group.members().size() + " members",
        committed(topic) + " committed");
  }

  private String pattern() throws Exception {
    String first = topic("pattern-1", 1);
    fill(first, 5);
    try (var consumer = consumer(first, "group.protocol", "consumer")) {
      consumer.subscribe(new SubscriptionPattern(prefix + "-pattern-[0-9]"));
      int before = read(consumer, 5);
      fill(topic("pattern-2", 1), 5);
      return before + " and " + read(consumer, 5);
    }
  }

  private String poll(String group, SubscriptionPattern pattern) {
    try (var consumer = consumer(prefix + group, "group.protocol", "consumer")) {
      consumer.subscribe(pattern);
      return "read " + read(consumer, 1);
    }
  }

  /** A static member comes back to its place; what a second one of its name does to it. */
  private String staticMember(String name, String protocol) throws Exception {
    String topic = topic(name, 2);
    String[] options = {"group.protocol", protocol, "group.instance.id", "one"};
    var stay = CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP;
    int generation;
    try (var first = joined(topic, options)) {
      generation = first.groupMetadata().generationId();
      first.close(CloseOptions.groupMembershipOperation(stay));
    }
    var second = joined(topic, options);
    boolean kept = second.groupMetadata().generationId() == generation;
    var third = consumer(topic, options);
    third.subscribe(List.of(topic));
    String refused = firstFailure(third, second);
    third.close(CloseOptions.timeout(Duration.ZERO));
    second.close(CloseOptions.timeout(Duration.ZERO));
    return (kept ? "kept its place" : "began anew") + ", then " + refused;
  }

  private String firstFailure(KafkaConsumer<?, ?> newcomer, KafkaConsumer<?, ?> older) {
    long end = System.currentTimeMillis() + PATIENCE_MS;
    while (System.currentTimeMillis() < end) {
      try {
        newcomer.poll(Duration.ofMillis(100));
      } catch (RuntimeException error) {
        return "newcomer " + name(error);
      }
      try {
        older.poll(Duration.ofMillis(100));
      } catch (RuntimeException error) {
        return "older " + name(error);
      }
    }
    return "nobody was refused";
  }

  private String badSession() {
    String[] options = {"session.timeout.ms", "100", "heartbeat.interval.ms", "50"};
    try (var consumer = consumer(prefix + "bad-session", options)) {
      consumer.subscribe(List.of(prefix + "-a"));
      return "read " + read(consumer, 1);
    }
  }

  /** A member of the new protocol joins a classic one, and leaves it. */
  private String migration() throws Exception {
    String topic = topic("migration", 4);
    Set<String> seen = ConcurrentHashMap.newKeySet();
    String sticky = CooperativeStickyAssignor.class.getName();
    Member old = new Member(topic, seen, "partition.assignment.strategy", sticky);
    until(() -> old.owned == 4);
    Member young = new Member(topic, seen, "group.protocol", "consumer");
    until(() -> old.owned == 2 && young.owned == 2);
    String both = type(topic);
    young.leave();
    until(() -> old.owned == 4);
    String after = type(topic);
    old.leave();
    return both + ", " + after;
  }

  private String deleteLiveGroup() throws Exception {
    String topic = topic("live", 1);
    try (var consumer = joined(topic)) {
      admin.deleteConsumerGroups(List.of(topic)).all().get();
      return "deleted with " + consumer.assignment().size();
    }
  }

  private String removeMember() throws Exception {
    String topic = topic("removed", 1);
    try (var consumer = joined(topic, "group.instance.id", "one")) {
      var options = new RemoveMembersFromConsumerGroupOptions(Set.of(new MemberToRemove("one")));
      admin.removeMembersFromConsumerGroup(topic, options).all().get();
      return state(topic) + " without " + consumer.assignment().size();
    }
  }

  // --- transactions ---

  private String transactions() throws Exception {
    String topic = topic("transactions", 3);
    try (var producer = transactional("transactions")) {
      for (int turn = 0; turn < 20; turn++) {
        producer.beginTransaction();
        for (int partition = 0; partition < 3; partition++) {
          producer.send(new ProducerRecord<>(topic, partition, null, "v" + turn));
        }
        if (turn % 2 == 0) {
          producer.commitTransaction();
        } else {
          producer.abortTransaction();
        }
      }
    }
    try (var consumer = consumer(topic, "isolation.level", "read_committed")) {
      consumer.subscribe(List.of(topic));
      return read(consumer, 30) + " of 60, " + transaction("transactions").state();
    }
  }

  /** Read, process, write; each third transaction is aborted and done again. */
  private String offsetsInTransactions(String name, String protocol) throws Exception {
    String source = topic(name + "-source", 2);
    String sink = topic(name + "-sink", 1);
    fill(source, 40);
    int done = 0;
    String[] options = {"group.protocol", protocol, "max.poll.records", "7"};
    try (var producer = transactional(name); var consumer = consumer(source, options)) {
      consumer.subscribe(List.of(source));
      for (int turn = 0; done < 40; turn++) {
        var records = consumer.poll(Duration.ofMillis(200));
        producer.beginTransaction();
        Map<TopicPartition, Long> first = new HashMap<>();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
        for (var record : records) {
          var place = new TopicPartition(record.topic(), record.partition());
          first.putIfAbsent(place, record.offset());
          next.put(place, new OffsetAndMetadata(record.offset() + 1));
          producer.send(new ProducerRecord<>(sink, record.value()));
        }
        producer.sendOffsetsToTransaction(next, consumer.groupMetadata());
        if (turn % 3 == 1) {
          producer.abortTransaction();
          first.forEach(consumer::seek);
        } else {
          producer.commitTransaction();
          done += records.count();
        }
      }
    }
    try (var consumer = consumer(sink, "isolation.level", "read_committed")) {
      consumer.subscribe(List.of(sink));
      return read(consumer, 40) + " copied, " + committed(source) + " committed";
    }
  }

  private String zombie() throws Exception {
    String topic = topic("zombie", 1);
    var old = transactional("zombie");
    old.beginTransaction();
    old.send(new ProducerRecord<>(topic, "old")).get();
    try (var young = transactional("zombie")) {
      young.beginTransaction();
      young.send(new ProducerRecord<>(topic, "new"));
      young.commitTransaction();
    }
    return outcome(() -> old.commitTransaction(), old);
  }

  private String fencedByAdmin() throws Exception {
    String topic = topic("fenced", 1);
    var producer = transactional("fenced");
    admin.fenceProducers(List.of(prefix + "-fenced")).all().get();
    producer.beginTransaction();
    return outcome(() -> producer.send(new ProducerRecord<>(topic, "x")).get(), producer);
  }

  private String abortedByAdmin() throws Exception {
    String topic = topic("aborted", 1);
    var place = new TopicPartition(topic, 0);
    var producer = transactional("aborted");
    producer.beginTransaction();
    producer.send(new ProducerRecord<>(topic, "x")).get();
    var open = admin.describeProducers(List.of(place)).partitionResult(place).get();
    var state = open.activeProducers().get(0);
    int epoch = state.coordinatorEpoch().orElse(0);
    admin
        .abortTransaction(
            new AbortTransactionSpec(
                place, state.producerId(), (short) state.producerEpoch(), epoch))
        .all()
        .get();
    var closed = admin.describeProducers(List.of(place)).partitionResult(place).get();
    producer.close(Duration.ZERO);
    return "open at " + state.currentTransactionStartOffset().getAsLong() + ", then open "
        + closed.activeProducers().get(0).currentTransactionStartOffset().isPresent();
  }

  private String timedOut() throws Exception {
    String topic = topic("late", 1);
    var producer = transactional("late", "transaction.timeout.ms", "2000");
    producer.beginTransaction();
    producer.send(new ProducerRecord<>(topic, "x")).get();
    until(() -> transaction("late").state() == TransactionState.COMPLETE_ABORT);
    return outcome(() -> producer.commitTransaction(), producer);
  }

  private String longTimeout() {
    transactional("long", "transaction.timeout.ms", "99999999").close();
    return "accepted";
  }

  // --- parts ---

  /** A member in a thread of its own. */
  private class Member {
    private final Thread thread;
    private volatile boolean leaving;
    private volatile int owned;

    Member(String topic, Set<String> seen, String... options) {
      thread = new Thread(() -> run(topic, seen, options));
      thread.start();
    }

    private void run(String topic, Set<String> seen, String... options) {
      try (var consumer = consumer(topic, options)) {
        consumer.subscribe(List.of(topic));
        while (!leaving) {
          consumer.poll(Duration.ofMillis(100)).forEach(record -> seen.add(record.value()));
          owned = consumer.assignment().size();
          commit(consumer);
        }
      }
    }

    private void commit(KafkaConsumer<?, ?> consumer) {
      try {
        consumer.commitSync();
      } catch (CommitFailedException | RebalanceInProgressException error) {
        owned = 0; // and read again by whoever is next
      }
    }

    void leave() throws InterruptedException {
      leaving = true;
      thread.join();
    }
  }

  private Properties settings(String... options) {
    Properties made = new Properties();
    made.put("bootstrap.servers", bootstrap);
    for (int index = 0; index < options.length; index += 2) {
      made.put(options[index], options[index + 1]);
    }
    return made;
  }

  private KafkaConsumer<String, String> consumer(String group, String... options) {
    Properties made = settings(options);
    made.put("group.id", group);
    made.put("auto.offset.reset", "earliest");
    made.put("enable.auto.commit", "false");
    return new KafkaConsumer<>(made, new StringDeserializer(), new StringDeserializer());
  }

  private KafkaConsumer<String, String> joined(String topic, String... options) {
    var consumer = consumer(topic, options);
    consumer.subscribe(List.of(topic));
    until(
        () -> {
          consumer.poll(Duration.ofMillis(100));
          return !consumer.assignment().isEmpty();
        });
    return consumer;
  }

  private KafkaProducer<String, String> transactional(String name, String... options) {
    Properties made = settings(options);
    made.put("transactional.id", prefix + "-" + name);
    var producer = new KafkaProducer<>(made, new StringSerializer(), new StringSerializer());
    producer.initTransactions();
    return producer;
  }

  private String topic(String name, int partitions) throws Exception {
    String topic = prefix + "-" + name;
    var wanted = new NewTopic(topic, Optional.of(partitions), Optional.empty());
    admin.createTopics(List.of(wanted)).all().get();
    return topic;
  }

  private void fill(String topic, int count) {
    try (var producer =
        new KafkaProducer<>(settings(), new StringSerializer(), new StringSerializer())) {
      for (int number = 0; number < count; number++) {
        producer.send(new ProducerRecord<>(topic, "k" + number, "v" + number));
      }
    }
  }

  private int read(KafkaConsumer<String, String> consumer, int wanted) {
    List<String> values = new ArrayList<>();
    long end = System.currentTimeMillis() + PATIENCE_MS;
    while (values.size() < wanted && System.currentTimeMillis() < end) {
      consumer.poll(Duration.ofMillis(200)).forEach(record -> values.add(record.value()));
    }
    return values.size();
  }

  private long committed(String group) throws Exception {
    var found = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
    return found.values().stream().mapToLong(OffsetAndMetadata::offset).sum();
  }

  private String type(String group) throws Exception {
    return admin.describeConsumerGroups(List.of(group)).all().get().get(group).type().toString();
  }

  private String state(String group) throws Exception {
    var found = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
    return found.groupState().toString();
  }

  private org.apache.kafka.clients.admin.TransactionDescription transaction(String name) {
    String id = prefix + "-" + name;
    try {
      return admin.describeTransactions(List.of(id)).all().get().get(id);
    } catch (InterruptedException | ExecutionException error) {
      throw new IllegalStateException(error);
    }
  }

  private interface Work {
    void run() throws Exception;
  }

  private static String outcome(Work work, KafkaProducer<?, ?> producer) {
    try {
      work.run();
      return "done";
    } catch (Exception error) {
      return name(error);
    } finally {
      producer.close(Duration.ZERO);
    }
  }

  private static void until(BooleanSupplier condition) {
    long end = System.currentTimeMillis() + PATIENCE_MS;
    while (!condition.getAsBoolean()) {
      if (System.currentTimeMillis() > end) {
        throw new IllegalStateException("it did not come about");
      }
      try {
        Thread.sleep(50);
      } catch (InterruptedException error) {
        throw new IllegalStateException(error);
      }
    }
  }

  private static String name(Throwable error) {
    boolean wrapped = error instanceof ExecutionException && error.getCause() != null;
    return (wrapped ? error.getCause() : error).getClass().getSimpleName();
  }

  private static void ask(String question, Callable<String> answer) {
    String found;
    try {
      found = answer.call();
    } catch (Exception error) {
      found = name(error);
    }
    System.out.println(question + "\t" + found);
  }
}
