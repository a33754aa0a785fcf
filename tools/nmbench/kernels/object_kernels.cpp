// Kernels of very many small objects: create them, open one, list, read all metadata, read all
// samples in a random order.
#include <algorithm>
#include <random>

#include "kernel.h"
#include "objects.h"

namespace nmb::bench {

namespace {

using Traits = Backend::Traits;

// A variable that a program knows from its description, not from the file.
struct Known {
  std::string block, name;
  Type type;
  std::uint64_t count;

  std::vector<std::byte> values() const { return values_of_name(block + "/" + name, type, count); }
  void check(std::size_t length, const std::vector<std::byte>& read) const {
    check_same(length == count * type_size(type), "number of values of " + name);
    check_same(read == values(), "values of " + name);
  }
};

struct Objects {
  Shape shape = Shape::kSamples;
  std::uint64_t samples = 0;

  explicit Objects(Job& job) {
    const std::string name = job.text("shape", "samples");
    const auto found = kShapes.find(name);
    if (found == kShapes.end()) throw std::runtime_error("there is no shape " + name);
    shape = found->second;
    samples = job.number("samples", usual_samples(shape));
  }
  // Of kernels that look for samples by name.
  void check_samples_have_blocks() const {
    if (shape == Shape::kOne) throw Refused("the shape `one` has no block for each sample");
  }
  // Libraries without blocks: each process's objects have its number in their names.
  Description of(const Samples& which, const Traits& traits, int rank) const {
    return describe(shape, which, traits.flat, "rank" + std::to_string(rank));
  }
};

// Visits each variable of a description: number of its block, its own number, what it is.
template <class Visit>
void for_each_variable(const Description& objects, Visit visit) {
  std::size_t variable = 0, dimension = 0;
  for (std::size_t b = 0; b < objects.blocks.size(); ++b) {
    const std::string block(objects.text(objects.blocks[b].name));
    for (std::uint32_t i = 0; i < objects.blocks[b].variables; ++i, ++variable) {
      const Description::Variable& v = objects.variables[variable];
      std::uint64_t count = 1;
      for (std::uint8_t axis = 0; axis < v.rank; ++axis)
        count *= objects.dimensions[dimension++].length;
      visit(b, variable, Known{block, std::string(objects.text(v.name)), v.type, count});
    }
  }
}

void put_all_values(Backend& backend, const Description& defined, const Description& mine,
                    std::size_t first_block, std::size_t first_variable) {
  for_each_variable(mine, [&](std::size_t block, std::size_t variable, const Known& known) {
    backend.put_sample(defined, first_block + block, first_variable + variable, known.values());
  });
}

// The definitions of all processes, by what each describes.
MetadataSum sum_of_all(const MetadataSum& mine) {
  MetadataSum all{};
  MPI_Allreduce(&mine, &all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void check_metadata(const MetadataSum& read, const MetadataSum& expected) {
  check_same(read.variables == expected.variables, "number of variables");
  check_same(read == expected, "names, types or lengths");
}

// Each process opens the file by itself.
void verify_values(Run& run, const Description& objects) {
  FileOptions alone = run.options;
  alone.file_per_process = true;
  run.backend.open(run.path, alone, false);
  std::vector<std::byte> values;
  for_each_variable(objects, [&](std::size_t, std::size_t, const Known& known) {
    known.check(run.backend.read_variable(known.block, known.name, &values), values);
  });
  run.backend.close();
}

}  // namespace

void run_create(Run& run) {
  const Objects objects(run.job);
  const bool shared = run.job.flag("shared");  // all processes define the same objects
  const bool values = run.job.flag("values");
  // The last process defines a sample of the first in another way: must fail.
  const bool conflict = run.job.flag("conflict");
  const bool verify = run.job.flag("verify");
  const std::string level = run.job.text("level", "application");
  run.job.check_all_read();
  run.check_shares_file();
  const Traits& traits = run.backend.traits();
  if (shared && traits.own_blocks) throw Refused("each process has a block of its own");
  const auto share_of = [&](int rank) {
    return shared ? Samples::all(objects.samples)
                  : Samples::share(objects.samples, rank, run.size, false);
  };
  Description mine = objects.of(share_of(run.rank), traits, shared ? 0 : run.rank);
  if (conflict && run.rank + 1 == run.size) {
    mine = objects.of({0, 1, 1, objects.samples}, traits, 0);
    ++mine.dimensions.at(0).length;
  }
  const bool exchanges = traits.collective_definitions && !shared &&
                         !run.options.file_per_process && run.size > 1 && level == "application";

  // Each process opens and fills its own variables.
  if (values) run.options.collective_data = run.options.collective_metadata = false;

  run.barrier();
  run.meter.start();
  Gathered gathered;
  if (exchanges) {
    gathered = gather_descriptions(mine, run.rank, run.size);
    run.meter.phase("exchange");
  }
  const Description& defined = exchanges ? gathered.all : mine;
  run.backend.create(run.path, run.options);
  run.backend.define(defined);
  run.meter.phase("create");
  run.backend.end_define();
  run.meter.phase("end_define");
  if (values) {
    if (!shared || run.rank == 0)
      put_all_values(run.backend, defined, mine, gathered.first_block, gathered.first_variable);
    run.backend.complete();
    run.meter.phase("values");
  }
  run.backend.close();
  run.meter.phase("close");

  const Counts counts = mine.counts();
  run.row["counts"] = {{"blocks", counts.blocks},
                       {"variables", counts.variables},
                       {"dimensions", counts.dimensions}};
  if (!verify) return;
  run.barrier();
  const MetadataSum own = sum_of(mine, traits.flat);
  const MetadataSum all = shared || run.options.file_per_process ? own : sum_of_all(own);
  run.backend.open(run.path, run.options, false);
  check_metadata(run.backend.read_metadata(), all);
  run.backend.close();
  if (values)
    verify_values(run,
                  shared ? mine : objects.of(share_of(run.next_rank()), traits, run.next_rank()));
  run.row["verified"] = true;
}

void run_open_one(Run& run) {
  const Objects objects(run.job);
  const std::uint64_t opens = run.job.number("opens", 100);
  const std::uint64_t seed = run.job.number("seed", 1);
  const bool verify = run.job.flag("verify");
  run.job.check_all_read();
  objects.check_samples_have_blocks();
  // Each process opens the file by itself.
  run.options.file_per_process = true;
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(run.rank));
  std::vector<Known> wanted;
  for (std::uint64_t i = 0; i < opens; ++i) {
    const std::uint64_t sample = random() % objects.samples;
    const Description one = objects.of({sample, 1, 1, objects.samples}, run.backend.traits(), 0);
    const std::size_t chosen = random() % one.variables.size();
    for_each_variable(one, [&](std::size_t, std::size_t variable, const Known& known) {
      if (variable == chosen) wanted.push_back(known);
    });
  }
  std::vector<double> seconds;
  std::vector<std::byte> values;
  run.barrier();
  run.meter.start();
  for (const Known& one : wanted) {
    const double begin = MPI_Wtime();
    run.backend.open(run.path, run.options, false);
    const std::size_t bytes = run.backend.read_variable(one.block, one.name, &values);
    run.backend.close();
    seconds.push_back(MPI_Wtime() - begin);
    if (!verify) continue;
    run.meter.phase("open_one");
    one.check(bytes, values);
    run.meter.skip();
  }
  if (!verify) run.meter.phase("open_one");
  run.row["latency"] = percentiles(seconds);
  run.row["operations"] = opens;
  if (verify) run.row["verified"] = true;
}

void run_list(Run& run) {
  const Objects objects(run.job);
  const bool verify = run.job.flag("verify");
  run.job.check_all_read();
  objects.check_samples_have_blocks();
  run.check_shares_reading();
  std::string all;
  std::vector<std::size_t> ends;
  run.barrier();
  run.meter.start();
  run.backend.open(run.path, run.options, false);
  run.meter.phase("open");
  run.backend.list([&](std::string_view name) {
    all += name;
    ends.push_back(all.size());
  });
  run.meter.phase("list");
  run.backend.close();
  run.meter.phase("close");
  run.row["counts"] = {{"names", ends.size()}, {"name_bytes", all.size()}};
  if (!verify) return;
  MetadataSum found, expected;  // of names alone
  std::size_t begin = 0;
  for (const std::size_t end : ends)
    found.add(std::string_view(all).substr(std::exchange(begin, end), end - begin), {}, Type::kByte,
              {});
  const Samples share = Samples::share(objects.samples, run.rank, run.size, false);
  const Description described = describe(objects.shape, share, false);
  for (const Description::Block& block : described.blocks)
    expected.add(described.text(block.name), {}, Type::kByte, {});
  check_same(found == sum_of_all(expected), "names of samples");
  run.row["verified"] = true;
}

void run_read_metadata(Run& run) {
  const Objects objects(run.job);
  const bool verify = run.job.flag("verify");
  run.job.check_all_read();
  if (verify) objects.check_samples_have_blocks();
  run.check_shares_reading();
  run.barrier();
  run.meter.start();
  run.backend.open(run.path, run.options, false);
  run.meter.phase("open");
  const MetadataSum sum = run.backend.read_metadata();
  run.meter.phase("read");
  run.backend.close();
  run.meter.phase("close");
  run.row["counts"] = {
      {"variables", sum.variables}, {"dimensions", sum.dimensions}, {"digest", sum.digest}};
  if (!verify) return;
  const Traits& traits = run.backend.traits();
  const Samples share = Samples::share(objects.samples, run.rank, run.size, false);
  check_metadata(sum, sum_of_all(sum_of(objects.of(share, traits, run.rank), traits.flat)));
  run.row["verified"] = true;
}

void run_epoch(Run& run) {
  const Objects objects(run.job);
  const std::uint64_t seed = run.job.number("seed", 1);
  const bool verify = run.job.flag("verify");
  run.job.check_all_read();
  objects.check_samples_have_blocks();
  run.options.file_per_process = true;  // each process opens the file by itself
  std::vector<std::uint64_t> order(objects.samples);
  for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  const Samples share = Samples::share(objects.samples, run.rank, run.size, false);
  std::vector<double> seconds;
  std::vector<std::string> names;
  std::vector<std::vector<std::byte>> values;  // of each variable of a sample
  std::uint64_t bytes = 0;
  run.barrier();
  run.meter.start();
  run.backend.open(run.path, run.options, false);
  run.meter.phase("open");
  for (std::uint64_t i = share.first; i < share.first + share.count; ++i) {
    const Description one = objects.of({order[i], 1, 1, objects.samples}, run.backend.traits(), 0);
    const std::string block(one.text(one.blocks[0].name));
    names.clear();
    for (const Description::Variable& v : one.variables) names.emplace_back(one.text(v.name));
    const double begin = MPI_Wtime();
    run.backend.read_sample(block, names, &values);
    seconds.push_back(MPI_Wtime() - begin);
    for (const std::vector<std::byte>& one_variable : values) bytes += one_variable.size();
    if (!verify) continue;
    run.meter.phase("read");
    for_each_variable(one, [&](std::size_t, std::size_t variable, const Known& known) {
      known.check(values[variable].size(), values[variable]);
    });
    run.meter.skip();
  }
  run.meter.phase("read");
  run.backend.close();
  run.meter.phase("close");
  run.row["latency"] = percentiles(seconds);
  run.row["operations"] = share.count;
  run.row["bytes"] = bytes;
  if (verify) run.row["verified"] = true;
}

}  // namespace nmb::bench
