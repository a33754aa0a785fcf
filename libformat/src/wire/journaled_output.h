// JournaledOutput: a new file that a later process may go on with where this one ended, however it
// ended. What is written is noted in a journal beside it, with its sum; what the file has of it is
// believed if it still has that sum.
//
// The journal is a header of 24 bytes (magic, sum of the key, sum of both) and records of 32:
// offset and length in the file, sum of the bytes, sum of these three and the key. All
// little-endian. A record that is cut or wrong says nothing. All processes of a job append to one
// journal; where a file system loses a record of two that are appended at once, what it tells is
// done again.
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
  // The hidden file (resumable_name()) and its journal, as they were left, or new ones. They stay
  // unless the file is published or nothing was noted. key: what decides the bytes of the file.
  // kExists: there is one of another key; kBusy: another process has it; kIo.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path,
                                                    const CreateOptions& options);
  // Whether the journal of `path` has notes. Without, create() empties and may remove the hidden
  // file and the journal, whatever they are.
  static bool has_notes(const std::string& path);
  // The same file for another process, once it is there.
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
  // names: of the hidden file, where this one decides whether it stays.
  JournaledOutput(std::shared_ptr<OutputFile> file, std::string names, int journal,
                  std::uint64_t key)
      : OutputFileLayer(std::move(file)), names_(std::move(names)), journal_(journal), key_(key) {}
  // *empty: there is no header that is whole.
  Status load(const std::string& journal, bool* empty);
  std::uint64_t check_of(const std::uint64_t* fields) const;
  bool has(Notes::const_iterator note, std::vector<std::byte>* bytes) const;

  const std::string names_;
  const int journal_;
  const std::uint64_t key_;
  Notes noted_;  // of processes before
  bool published_ = false;
};

}  // namespace nmb
