// JournaledOutput: a new file that a later process can continue, however this process ended. Each
// write is recorded with its sum in a journal in the same folder. The later process trusts bytes of
// the file only if they still have that sum.
//
// The journal is a header of 24 bytes (magic, sum of the key, sum of both) and records of 32:
// offset and length in the file, sum of the bytes, sum of these three and the key. All
// little-endian. A record that is incomplete or wrong is ignored. All processes of a job append to
// one journal; if a file system loses one of two records that are appended at the same time, its
// bytes are written again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nmb/files.h"

namespace nmb {

class JournaledOutput final : public OutputFileLayer {
 public:
  // Opens the hidden file (resumable_name()) and its journal as a previous run left them, or makes
  // new ones. They stay unless the file is published or nothing was noted. key: everything that
  // determines the bytes of the file. Errors: kExists: there is a journal with another key; kBusy:
  // another process has it; kIo.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path,
                                                    const CreateOptions& options);
  // Returns whether the journal of `path` has notes. If not, create() empties and may remove the
  // hidden file and the journal, whatever they contain.
  static bool has_notes(const std::string& path);
  // Opens the same file in another process after create().
  static Result<std::unique_ptr<OutputFile>> attach(const std::string& path,
                                                    const std::string& name,
                                                    const std::string& key);
  ~JournaledOutput() override;

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  bool recall(std::uint64_t offset, std::span<std::byte> out) const override;
  Status publish() override;

 private:
  struct Noted {
    std::uint64_t length, sum;
  };
  using Notes = std::map<std::uint64_t, Noted>;  // by offset
  // names: name of the hidden file if this object decides whether it stays.
  JournaledOutput(std::shared_ptr<OutputFile> file, std::string names, int journal,
                  std::uint64_t key)
      : OutputFileLayer(std::move(file)), names_(std::move(names)), journal_(journal), key_(key) {}
  // *empty: there is no complete header.
  Status load(const std::string& journal, bool* empty);
  std::uint64_t check_of(const std::uint64_t* fields) const;
  bool has(Notes::const_iterator note, std::vector<std::byte>* bytes) const;

  const std::string names_;
  const int journal_;
  const std::uint64_t key_;
  Notes noted_;  // notes of earlier processes
  bool published_ = false;
};

}  // namespace nmb
