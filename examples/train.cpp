// train IN.nmb EPOCHS THREADS reads the samples of any NMB file as a training program does. The
// index of the file says which blocks contain samples. Each epoch reads these blocks in a new
// random order. The threads share the work: each block is read by one thread.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "nmb/reader.h"

namespace {

bool has_numbers(const nmb::Metadata& metadata, nmb::VarId id) {
  std::optional<nmb::Type> type = metadata.variable(id).type;
  // HDF5 has further types. Numbers of such types differ from classic ones only in byte order.
  if (nmb::TypeTable::is_extended(*type)) type = metadata.extension()->types.classic(*type);
  return type && *type != nmb::Type::kChar;
}

// Reads one block of samples. The mean of its numbers takes the place of a model's computation.
nmb::Result<double> use(const nmb::Reader& reader, const nmb::BlockEntry& entry) {
  NMB_ASSIGN(const std::shared_ptr<const nmb::Block> sample, reader.block(entry));
  double sum = 0;
  std::size_t count = 0;
  for (nmb::VarId id = 0; id < sample->metadata.variable_count(); ++id) {
    if (!has_numbers(sample->metadata, id)) continue;
    NMB_ASSIGN(const std::vector<double> values, sample->read_all<double>(id));
    sum = std::accumulate(values.begin(), values.end(), sum);
    count += values.size();
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

nmb::Status train(const char* path, int epochs, unsigned threads) {
  NMB_ASSIGN(const std::unique_ptr<nmb::Reader> reader, nmb::Reader::open(path));
  std::printf("%llu samples\n", static_cast<unsigned long long>(reader->totals().samples));
  std::vector<nmb::BlockEntry> samples;
  NMB_TRY(reader->for_each_entry("", [&](const nmb::BlockEntry& entry) -> nmb::Result<bool> {
    if (entry.samples > 0) samples.push_back(entry);
    return true;
  }));
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
