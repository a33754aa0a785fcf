#include "files/journaled_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/system_error.h"

namespace nmb {

namespace {

constexpr std::string_view kMagic = "NMBjour1";
constexpr std::size_t kHeader = 24, kRecord = 32;
// Shorter writes are not recorded, because a record would cost as much work as it saves.
constexpr std::size_t kLeastNoted = 4096;
// The most bytes that one record covers.
constexpr std::size_t kMostNoted = 1 << 20;
// Several records may cover the same byte if earlier runs divided the file into different writes.
// For each byte, recall() checks at most this number of records: those that begin nearest before
// the byte.
constexpr int kMostLookedAt = 4;

std::string journal_of(const std::string& hidden) {
  return hidden.substr(0, hidden.rfind('.')) + ".journal";
}

std::array<std::byte, kHeader> header_of(std::uint64_t key) {
  std::array<std::byte, kHeader> bytes;
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  store_le(bytes.data() + 8, key);
  store_le(bytes.data() + 16, sum_of(std::span(bytes).first(16)));
  return bytes;
}

// Returns whether a file is a journal, with any key.
bool is_journal(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  std::array<std::byte, kHeader> bytes;
  const bool is_read = ::pread(fd, bytes.data(), kHeader, 0) == kHeader;
  ::close(fd);
  return is_read && bytes == header_of(load_le<std::uint64_t>(bytes.data() + 8));
}

Status append(int file, std::span<const std::byte> bytes, const std::string& name) {
  ssize_t done;
  while ((done = ::write(file, bytes.data(), bytes.size())) < 0 && errno == EINTR) {
  }
  if (done < 0) return system_error(errno, name, "write");
  if (static_cast<std::size_t>(done) < bytes.size()) return system_error(ENOSPC, name, "write");
  return {};
}

}  // namespace

std::string journal_name(const std::string& path) { return journal_of(resumable_name(path)); }

bool JournaledOutput::has_notes(const std::string& path) {
  struct stat about {};
  return ::stat(journal_name(path).c_str(), &about) == 0 &&
         about.st_size > static_cast<off_t>(kHeader);
}

void JournaledOutput::remove_published(const std::string& path) {
  const std::string hidden = resumable_name(path), journal = journal_of(hidden);
  if (!is_journal(journal)) return;
  if (struct stat written; ::lstat(hidden.c_str(), &written) == 0) {
    // If publish() replaces no file, the output has both names for a moment.
    struct stat output;
    if (::stat(path.c_str(), &output) != 0 || output.st_dev != written.st_dev ||
        output.st_ino != written.st_ino)
      return;
    ::unlink(hidden.c_str());
  }
  ::unlink(journal.c_str());
}

Result<std::unique_ptr<OutputFile>> JournaledOutput::create(const std::string& path,
                                                            const CreateOptions& options) {
  const std::string hidden = resumable_name(path), journal = journal_of(hidden);
  CreateOptions kept = options;
  kept.resume_key.clear();
  NMB_ASSIGN(std::shared_ptr<OutputFile> file, reopen_output(path, hidden, kept));
  const int fd = ::open(journal.c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return system_error(errno, journal, "create");
  const std::uint64_t key = sum_of(std::as_bytes(std::span(options.resume_key)));
  std::unique_ptr<JournaledOutput> output(new JournaledOutput(std::move(file), hidden, fd, key));
  bool empty = false;
  NMB_TRY(output->load(journal, &empty));
  if (empty) {
    if (::ftruncate(fd, 0) != 0) return system_error(errno, journal, "set the length to 0");
    NMB_TRY(append(fd, header_of(key), journal));
    NMB_TRY(output->truncate(0));
  }
  return std::unique_ptr<OutputFile>(std::move(output));
}

Result<std::unique_ptr<OutputFile>> JournaledOutput::attach(const std::string& path,
                                                            const std::string& name,
                                                            const std::string& key) {
  NMB_ASSIGN(std::shared_ptr<OutputFile> file, attach_output(path, name));
  const std::string journal = journal_of(path);
  const int fd = ::open(journal.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (fd < 0) return system_error(errno, journal, "open");
  std::unique_ptr<JournaledOutput> output(
      new JournaledOutput(std::move(file), {}, fd, sum_of(std::as_bytes(std::span(key)))));
  bool empty = false;
  NMB_TRY(output->load(journal, &empty));
  return std::unique_ptr<OutputFile>(std::move(output));
}

JournaledOutput::~JournaledOutput() {
  struct stat about {};
  const bool is_known = ::fstat(journal_, &about) == 0;
  ::close(journal_);
  if (names_.empty()) return;
  const bool noted = is_known && about.st_size > static_cast<off_t>(kHeader);
  if (published_ || !noted) ::unlink(journal_of(names_).c_str());
  if (!published_ && !noted) ::unlink(names_.c_str());
}

std::uint64_t JournaledOutput::check_of(const std::uint64_t* fields) const {
  std::byte bytes[32];
  for (int i = 0; i < 3; ++i) store_le(bytes + 8 * i, fields[i]);
  store_le(bytes + 24, key_);
  return sum_of(bytes);
}

Status JournaledOutput::load(const std::string& journal, bool* empty) {
  struct stat about {};
  if (::fstat(journal_, &about) != 0) return system_error(errno, journal, "stat");
  std::vector<std::byte> bytes(static_cast<std::size_t>(about.st_size));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got =
        ::pread(journal_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(errno, journal, "read");
    if (got == 0) bytes.resize(done);
    done += static_cast<std::size_t>(got);
  }
  *empty = bytes.size() < kHeader;
  if (*empty) return {};
  if (!std::ranges::equal(std::span(bytes).first(kHeader), header_of(key_)))
    return Status(Code::kExists, journal, kNoOffset, "",
                  "the journal belongs to a run with different inputs or options; "
                  "the journal and " +
                      resumable_name(base_->name()) +
                      " hold the results of that run; remove both files to start again");
  for (std::size_t at = kHeader; at + kRecord <= bytes.size(); at += kRecord) {
    std::uint64_t fields[4];
    for (int i = 0; i < 4; ++i) fields[i] = load_le<std::uint64_t>(bytes.data() + at + 8 * i);
    if (fields[3] == check_of(fields) && fields[1] <= kMostNoted)
      noted_[fields[0]] = {fields[1], fields[2]};
  }
  return {};
}

Status JournaledOutput::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  NMB_TRY(base_->write_at(offset, bytes));
  if (bytes.size() < kLeastNoted || bytes.size() > kMostNoted) return {};
  const std::uint64_t fields[3] = {offset, bytes.size(), sum_of(bytes)};
  std::byte record[kRecord];
  for (int i = 0; i < 3; ++i) store_le(record + 8 * i, fields[i]);
  store_le(record + 24, check_of(fields));
  return append(journal_, record, name());
}

// Reads the bytes that the record describes, and returns whether they have the recorded checksum.
bool JournaledOutput::has(Notes::const_iterator note, std::vector<std::byte>* bytes) const {
  const auto& [offset, noted] = *note;
  bytes->resize(noted.length);
  return base_->read_at(offset, *bytes).ok() && sum_of(*bytes) == noted.sum;
}

// Reads the bytes and returns true if a previous run has already written them. If that run had
// another number of ranks or threads, it divided the file into other writes, so several records may
// each cover a part of the bytes.
bool JournaledOutput::recall(std::uint64_t offset, std::span<std::byte> out) const {
  if (const auto exact = noted_.find(offset);
      exact != noted_.end() && exact->second.length == out.size())
    return base_->read_at(offset, out).ok() && sum_of(out) == exact->second.sum;
  std::vector<std::byte> bytes;
  while (!out.empty()) {
    auto note = noted_.upper_bound(offset);
    bool is_there = false;
    for (int i = 0; i < kMostLookedAt && !is_there && note != noted_.begin(); ++i) {
      --note;
      is_there = offset - note->first < note->second.length && has(note, &bytes);
    }
    if (!is_there) return false;
    const std::uint64_t from = offset - note->first;
    const auto part =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), note->second.length - from));
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), part, out.begin());
    out = out.subspan(part);
    offset += part;
  }
  return true;
}

Status JournaledOutput::publish() {
  NMB_TRY(base_->publish());
  published_ = true;
  return {};
}

}  // namespace nmb
