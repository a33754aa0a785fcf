// consumer write FILE.nmb | read FILE.h5 | ranks: what an installed libnmb does for a program. It
// writes a file, reads HDF5 by nmb-hdf5, and joins the processes of an MPI job by a plug-in. All
// public headers are included, except for nmb/mpi.h, which needs MPI.
#include <nmb/array.h>
#include <nmb/compare.h>
#include <nmb/convert.h>
#include <nmb/counts.h>
#include <nmb/error.h>
#include <nmb/finding.h>
#include <nmb/merge.h>
#include <nmb/options.h>
#include <nmb/ranks.h>
#include <nmb/reader.h>
#include <nmb/recover.h>
#include <nmb/statistics.h>
#include <nmb/status.h>
#include <nmb/types.h>
#include <nmb/verify.h>
#include <nmb/writer.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

// A function of values. With a shared library, it needs the virtual table of its base.
class Sum final : public nmb::ValueAccumulator {
 public:
  std::unique_ptr<nmb::ValueAccumulator> fresh() const override { return std::make_unique<Sum>(); }
  void add(const nmb::ValueBatch& batch) override {
    for (std::size_t i = 0; i < batch.count(); ++i)
      sum_ += batch.number(i) * static_cast<double>(batch.times);
  }
  void merge(const nmb::ValueAccumulator& other) override {
    sum_ += static_cast<const Sum&>(other).sum_;
  }
  nmb::TagValue result() const override { return sum_; }

 private:
  double sum_ = 0;
};

void write(const std::string& path) {
  nmb::WriteOptions options;
  options.mode = nmb::WriteOptions::Mode::kReplace;
  options.statistics = nmb::StatisticsLevel::kBasic;
  options.functions = {
      {"sum", [](std::string_view, nmb::Type) { return std::make_unique<Sum>(); }}};
  nmb::Writer out(path, options);
  nmb::Block block = out.block("a");
  block.var<int>("v", {block.dim("x", 3)}).put(std::vector<int>{1, 2, 3});
  out.close();
}

void read(const std::string& path) {
  const nmb::Reader in(path);
  for (const nmb::BlockView& block : in.blocks()) {
    const nmb::Result<nmb::VarView> v = block.try_var("v");
    if (!v.ok()) continue;
    std::printf("%s/v:", block.name().c_str());
    for (const int value : v->read<int>()) std::printf(" %d", value);
    std::printf("\n");
  }
}

void count_ranks() {
  nmb::Ranks ranks = nmb::Ranks::mpi();
  ranks.run([&] {
    ranks.barrier();
    if (ranks.rank() == 0) std::printf("%d ranks\n", ranks.size());
  });
}

// Everything that has a declaration has a definition in the library.
void call_all(const std::string& path) {
  nmb::merge({path}, path + ".merged");
  nmb::convert(path, path + ".converted");
  if (!nmb::verify(path).is_sound()) nmb::recover(path, path + ".recovered");
  nmb::compare(nmb::Reader(path), nmb::Reader(path));
  std::printf("%s\n", nmb::digest(nmb::Reader(path)).file.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const std::string path = argc > 2 ? argv[2] : "";
  try {
    if (what == "write")
      write(path);
    else if (what == "read")
      read(path);
    else if (what == "calls")
      call_all(path);
    else
      count_ranks();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return 1;
  }
}
