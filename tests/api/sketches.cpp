// Possible later calls, as declarations with a use of each: the public headers have room for them
// without changes to existing calls. Nothing of this is built or installed.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/merge.h"
#include "nmb/ranks.h"
#include "nmb/reader.h"
#include "nmb/writer.h"

namespace nmb::sketches {

// --- values that were put and not committed ---

// Views a block as its Writer has it: the committed values, and the values that this rank has put
// since. Definitions of other ranks are seen after end_define(), their values after put_all() or
// sync().
Result<BlockView> try_view(const Writer& out, const Block& block);
inline BlockView view(const Writer& out, const Block& block) { return check(try_view(out, block)); }

inline double last_value(Writer& out, Block& run, std::uint64_t step) {
  return view(out, run).var("t").read<double>({{step}, {1}}).front();
}

// --- errors of arguments that stay local ---

// A put_all() in which a wrong argument of one rank is that rank's error alone: the rank takes part
// with nothing, the others put their values, and all can use the writer on.
Status try_put_all_locally(Var& var, const Hyperslab& slab, ConstArray values);

inline bool put_or_skip(Var& t, std::uint64_t first, std::span<const float> mine) {
  return try_put_all_locally(t, {{first}, {mine.size()}}, mine).ok();
}

// --- a rank that takes part with nothing ---

// Answers the collective calls of the other ranks, without definitions and values of its own, until
// they commit. Returns their failure, or ok after a sync() or close().
Status try_take_part(Writer& out);

inline void spectator(Ranks& ranks, const std::string& path) {
  Writer out(path, ranks);
  check(try_take_part(out));
}

// --- values without limit in independent mode ---

// Between begin and end, put() of any rank adds records to shared blocks without the other ranks.
// Values beyond `memory` bytes of a rank wait in a file of its own; end gives them their places.
struct IndependentPuts {
  std::uint64_t memory = std::uint64_t{64} << 20;
  std::string folder{};  // of the ranks' own files; "": that of the output
};
Status try_begin_independent(Writer& out, const IndependentPuts& options);
Status try_end_independent(Writer& out);

inline void events(Writer& out, Var& hits, std::span<const int> found) {
  check(try_begin_independent(out, {.memory = std::uint64_t{1} << 30}));
  for (const int number : found) hits.put_records(static_cast<std::uint64_t>(number), number);
  check(try_end_independent(out));
}

// --- handles of work in the background ---

// A call that goes on while the program does. Destruction waits for it; cancel() lets it end early
// with kIo, which leaves files as the call itself would.
template <class T>
class Work {
 public:
  ~Work();
  bool is_done() const;
  double fraction() const;  // of the bytes that are moved
  void cancel();
  Result<T> try_wait();
  T wait() { return check(try_wait()); }

 private:
  struct State;
  std::unique_ptr<State> state_;
};
Work<std::uint64_t> start_sync(Writer& out);  // the number of the generation
Work<MergeReport> start_merge(const std::vector<std::string>& inputs, const std::string& output,
                              const MergeOptions& options = {});

inline std::uint64_t merge_while(const std::vector<std::string>& files, double (*solve)()) {
  Work<MergeReport> merged = start_merge(files, "all.nmb", {.mode = Join{.along = "time"}});
  while (!merged.is_done()) solve();
  return merged.wait().totals.records;
}

// --- staging ---

// Values go to a fast folder first (a node's own disk) and from there to the file, in the
// background; a commit is complete when they are in the file.
struct StagedWriteOptions : WriteOptions {
  std::string staging_folder{};
  std::uint64_t staging_bytes = std::uint64_t{16} << 30;  // then put() waits
};
Result<Writer> try_open_staged(const std::string& path, Ranks& ranks,
                               const StagedWriteOptions& options);

inline Writer on_node_disks(Ranks& ranks) {
  StagedWriteOptions options;
  options.staging_folder = "/local/scratch";
  return check(try_open_staged("run.nmb", ranks, options));
}

// --- values in files of their own ---

// The values of a variable lie in another file from byte `offset` on, which the writer makes or,
// with `exists`, only refers to. Readers open it as ReadOptions::external allows.
struct ValuesFile {
  std::string path;  // relative to the NMB file
  std::uint64_t offset = 0;
  bool exists = false;
};
Result<Var> try_var_in_file(Block& block, std::string_view name, Type type,
                            std::span<const Dim> dims, const ValuesFile& file);

inline Var raw_data(Block& run, std::span<const Dim> dims) {
  return check(
      try_var_in_file(run, "raw", Type::kShort, dims, {.path = "raw.bin", .exists = true}));
}

}  // namespace nmb::sketches
