// JournaledOutput: a new file that a later process can continue, even if this process is killed.
// Each write is recorded with its checksum in a journal in the same folder. The later process
// trusts bytes of the file only if they still have the recorded checksum.
//
// The journal has a header of 24 bytes and records of 32 bytes; all numbers are little-endian. The
// header has a magic number, the checksum of the key, and the checksum of these two fields. A
// record describes a range of the file by its offset, its length and the checksum of its bytes. The
// last field of a record is the checksum of the other three fields and the key. A record that is
// incomplete or has a wrong checksum is ignored.
//
// All processes of a job append to one journal. If two records are appended at the same time, a
// file system may lose one of them; its bytes are then written again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "files/files.h"

namespace nmb {

class JournaledOutput final : public OutputFileLayer {
 public:
  // Opens the hidden file (resumable_name()) and its journal as a previous run left them, or makes
  // new files. When the object is destroyed, both files stay unless the file was published or the
  // journal has no records. options.resume_key: a text that contains everything on which the bytes
  // of the file depend. Errors: kExists if there is a journal with another key; kBusy if another
  // process uses the files; kIo.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path,
                                                    const CreateOptions& options);
  // Returns whether the journal for the output `path` has records. If it has none, create() may
  // empty or remove the hidden file and the journal.
  static bool has_notes(const std::string& path);
  // If a process was killed just after it had published the output `path`, removes the journal and
  // the hidden name of the output. Does nothing if the hidden name belongs to another file than the
  // output.
  static void remove_published(const std::string& path);
  // Opens the same file in another process after create() was called.
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
  using Notes = std::map<std::uint64_t, Noted>;  // records of the journal, by offset
  // names: the hidden name, if this object decides whether the file stays; otherwise empty.
  JournaledOutput(std::shared_ptr<OutputFile> file, std::string names, int journal,
                  std::uint64_t key)
      : OutputFileLayer(std::move(file)), names_(std::move(names)), journal_(journal), key_(key) {}
  // Reads the journal. Sets *empty to true if the journal has no complete header.
  Status load(const std::string& journal, bool* empty);
  std::uint64_t check_of(const std::uint64_t* fields) const;
  bool has(Notes::const_iterator note, std::vector<std::byte>* bytes) const;

  const std::string names_;
  const int journal_;
  const std::uint64_t key_;
  Notes noted_;  // records of earlier processes
  bool published_ = false;
};

}  // namespace nmb
