// train IN.nmb EPOCHS THREADS reads the samples of any NMB file as a training program does. The
// index of the file says which blocks contain samples. Each epoch reads all blocks that contain
// samples, in a new random order. The threads share the work: each block is read by one thread.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "reader/file_reader.h"

namespace {

bool has_numbers(const nmb::Metadata& metadata, nmb::VarId id) {
  std::optional<nmb::Type> type = metadata.variable(id).type;
  // A block from HDF5 may have types that are not classic. classic() returns the classic type that
  // differs only in byte order, or nullopt if there is none.
  if (nmb::TypeTable::is_extended(*type)) type = metadata.extension()->types.classic(*type);
  return type && *type != nmb::Type::kChar;
}

// A sum of numbers, and how many numbers it has.
struct Sum {
  double sum = 0;
  std::uint64_t count = 0;
};

// Adds the numbers of a hyperslab to a sum. Reads at most about a million numbers at a time: a
// larger hyperslab is divided along its first dimension of more than one index.
nmb::Status add(const nmb::Dataset& sample, nmb::VarId id, const nmb::Hyperslab& slab, Sum* to) {
  constexpr std::uint64_t kMost = 1 << 20;
  const std::uint64_t count = nmb::element_count(slab);
  if (count > kMost) {
    std::size_t along = 0;
    while (slab.count[along] == 1) ++along;
    nmb::Hyperslab first = slab, second = slab;
    first.count[along] /= 2;
    second.start[along] += first.count[along];
    second.count[along] -= first.count[along];
    NMB_TRY(add(sample, id, first, to));
    return add(sample, id, second, to);
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  NMB_TRY(sample.read(id, slab, values));
  to->sum = std::accumulate(values.begin(), values.end(), to->sum);
  to->count += count;
  return {};
}

// Reads one block of samples. Instead of training a model, this function computes the mean of the
// block's numbers.
nmb::Result<double> use(const nmb::FileReader& reader, const nmb::BlockEntry& entry) {
  NMB_ASSIGN(const std::shared_ptr<const nmb::LoadedBlock> sample, reader.block(entry));
  Sum sum;
  for (nmb::VarId id = 0; id < sample->metadata.variable_count(); ++id) {
    if (!has_numbers(sample->metadata, id)) continue;
    NMB_ASSIGN(const nmb::VariableShape shape, sample->shape(id));
    nmb::Hyperslab whole;
    whole.start.assign(shape.lengths.size(), 0);
    whole.count = shape.lengths;
    NMB_TRY(add(*sample, id, whole, &sum));
  }
  return sum.count > 0 ? sum.sum / static_cast<double>(sum.count) : 0;
}

nmb::Status train(const char* path, int epochs, unsigned threads) {
  NMB_ASSIGN(const std::unique_ptr<nmb::FileReader> reader, nmb::FileReader::open(path));
  std::printf("%llu samples\n", static_cast<unsigned long long>(reader->totals().samples));
  std::vector<nmb::BlockEntry> samples;
  NMB_TRY(reader->for_each_entry("", [&](const nmb::BlockEntry& entry) -> nmb::Result<bool> {
    if (entry.samples > 0) samples.push_back(entry);
    return true;
  }));
  if (samples.empty())
    return nmb::Status(nmb::Code::kUsage, path, nmb::kNoOffset, "", "no block contains samples");
  std::mt19937_64 random(1);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(samples.begin(), samples.end(), random);
    std::atomic<std::size_t> next = 0;
    std::vector<double> sums(threads);
    std::vector<nmb::Status> status(threads);
    auto work = [&](unsigned thread) {
      for (std::size_t i; status[thread].ok() && (i = next++) < samples.size();) {
        nmb::Result<double> mean = use(*reader, samples[i]);
        status[thread] = mean.status();
        if (mean.ok()) sums[thread] += *mean;
      }
    };
    std::vector<std::thread> workers;
    for (unsigned thread = 0; thread < threads; ++thread) workers.emplace_back(work, thread);
    for (std::thread& worker : workers) worker.join();
    for (const nmb::Status& one : status) NMB_TRY(one);
    std::printf(
        "epoch %d: mean of means %.3f\n", epoch,
        std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(samples.size()));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::atoi(argv[3]) < 1) {
    std::fputs("usage: train IN.nmb EPOCHS THREADS\n", stderr);
    return 2;
  }
  const nmb::Status status =
      train(argv[1], std::atoi(argv[2]), static_cast<unsigned>(std::atoi(argv[3])));
  if (!status.ok()) std::fprintf(stderr, "train: %s\n", status.text().c_str());
  return status.ok() ? 0 : 1;
}
