// A file of random sessions for tests of faults: each seed gives the same generations.
#pragma once

#include <cstdint>
#include <string>

#include "support/model.h"

namespace nmb::test {

// With a layer, which makes the device's waits its own; without, commits do not wait.
inline WriterOptions fault_options(OutputLayer layer = {}, Hdf5View view = Hdf5View::kOff) {
  WriterOptions options;
  options.hdf5_view = view;
  options.piece_size = 65536;
  options.inline_limit = 512;
  options.overwrite = true;
  options.sync = layer != nullptr;
  options.layer = std::move(layer);
  return options;
}

// What a session does to the file.
enum class SessionKind { kAll, kGrowth, kDefinitions };

// One generation, from creation (first) or opening to close(). The model follows; it is that of the
// new generation only if the status is ok.
inline Status write_session(const std::string& path, bool first, std::uint64_t seed,
                            SessionKind kind, const WriterOptions& options, Model* model) {
  NMB_ASSIGN(std::unique_ptr<Writer> writer,
             first ? Writer::create(path, options) : Writer::open(path, options));
  RandomSession session(*writer, *model, seed, true);
  NMB_TRY(session.define(first ? 20 : kind == SessionKind::kGrowth ? 0 : 8));
  NMB_TRY(session.end_define());
  if (kind != SessionKind::kDefinitions) NMB_TRY(session.put(12));
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

inline constexpr SessionKind kSessionKinds[] = {SessionKind::kAll, SessionKind::kGrowth,
                                                SessionKind::kDefinitions};

}  // namespace nmb::test
