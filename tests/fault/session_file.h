// A file of random sessions for tests of faults: each seed gives the same generations.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>

#include "support/model.h"

namespace nmb::test {

// With a layer, which makes the device's waits its own; without, commits do not wait.
inline FileWriterOptions fault_options(OutputLayer layer = {}, Hdf5View view = Hdf5View::kOff) {
  FileWriterOptions options;
  options.hdf5_view = view;
  options.piece_size = 65536;
  options.inline_limit = 512;
  options.overwrite = true;
  options.sync = layer != nullptr;
  options.layer = std::move(layer);
  return options;
}

// The changes of a session. kRecords adds records and changes nothing else.
enum class SessionKind { kAll, kGrowth, kDefinitions, kRecords };

// One generation, from creation (first) or opening to close(). The model follows; it is that of the
// new generation only if the status is ok.
inline Status write_session(const std::string& path, bool first, std::uint64_t seed,
                            SessionKind kind, const FileWriterOptions& options, Model* model) {
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
             first ? FileWriter::create(path, options) : FileWriter::open(path, options));
  RandomSession session(*writer, *model, seed, true);
  const bool defines = kind == SessionKind::kAll || kind == SessionKind::kDefinitions;
  NMB_TRY(session.define(first ? 20 : defines ? 8 : 0));
  if (first && kind == SessionKind::kRecords) NMB_TRY(session.define_growing(3));
  NMB_TRY(session.end_define());
  int added = 0;
  if (kind == SessionKind::kRecords) {
    NMB_ASSIGN(added, session.add_records(12));
  }
  // Each session makes a generation.
  if (added == 0 && kind != SessionKind::kDefinitions) NMB_TRY(session.put(12));
  if (kind == SessionKind::kAll) {
    // Values of one generation come from several rounds.
    NMB_TRY(writer->redefine());
    NMB_TRY(session.define(4));
    NMB_TRY(session.end_define());
    NMB_TRY(session.put(4));
  }
  return writer->close();
}

// Every second session makes a view, where the file can have one.
inline Hdf5View view_of(std::uint64_t seed) {
  return seed % 2 == 0 ? Hdf5View::kAuto : Hdf5View::kOff;
}

inline constexpr SessionKind kSessionKinds[] = {SessionKind::kAll, SessionKind::kRecords,
                                                SessionKind::kDefinitions, SessionKind::kGrowth};
inline constexpr std::size_t kSessionKindCount = std::size(kSessionKinds);
// Returns the kind of the sessions before one of that kind.
inline SessionKind kind_before(SessionKind kind) {
  return kind == SessionKind::kRecords ? kind : SessionKind::kAll;
}

}  // namespace nmb::test
