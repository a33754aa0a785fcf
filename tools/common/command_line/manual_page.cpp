#include "common/command_line/manual_page.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace nmb::tools {
namespace {

constexpr std::string_view kTools[] = {"nmcat", "nmconvert", "nminspect", "nmverify"};

// Returns a line of text in which characters are escaped that roff would interpret or print
// differently.
std::string escaped(std::string_view text) {
  std::string out;
  if (text.starts_with('.')) out += "\\&";
  for (const char c : text) switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Puts the macro .PP before each paragraph except the first.
std::string paragraphs(std::string_view text) {
  std::string out;
  for_each_line(text, [&](std::string_view line) {
    if (!line.empty()) out += (out.empty() ? "" : ".PP\n") + escaped(line) + "\n";
  });
  return out;
}

std::string list_of_options(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : arguments_of(command)) {
    out += ".TP\n";
    if (option->get_positional()) {
      out += italic(names_of(*option));
    } else {
      std::string_view separator;
      for (const std::string& name : CLI::detail::split(names_of(*option), ',')) {
        out.append(separator).append(bold(name));
        separator = ", ";
      }
      if (const std::string value = value_of(*option); !value.empty()) out += " " + italic(value);
    }
    out += "\n" + escaped(option->get_description()) + "\n";
  }
  return out;
}

std::string lines_as_they_are(std::string_view text) {
  std::string out = ".nf\n";
  for_each_line(text, [&](std::string_view line) { out += escaped(line) + "\n"; });
  return out + ".fi\n";
}

}  // namespace

std::string manual_page(const CLI::App& app, const HelpTexts& texts) {
  const std::string& name = app.get_name();
  const HelpText& text = texts.at(&app);
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out = ".TH " + upper + " 1 \"\" \"NMB " NMB_VERSION "\" \"NMB\"\n.ad l\n.nh\n";
  out += ".SH NAME\n" + name + " \\- " + escaped(text.summary) + "\n";
  out += ".SH SYNOPSIS\n" + escaped(usage_of(app, name)) + "\n";
  out += ".SH DESCRIPTION\n" + paragraphs(text.details);
  out += ".SH OPTIONS\n" + list_of_options(app);
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  if (!commands.empty()) out += ".SH COMMANDS\n";
  for (const CLI::App* command : commands) {
    const HelpText& of_command = texts.at(command);
    out += ".SS " + escaped(usage_of(*command, name + " " + command->get_name())) + "\n";
    out += escaped(of_command.summary) + "\n" + list_of_options(*command);
    if (!of_command.details.empty()) out += ".PP\n" + paragraphs(of_command.details);
    if (!of_command.examples.empty()) out += ".PP\n" + lines_as_they_are(of_command.examples);
  }
  if (!text.examples.empty()) out += ".SH EXAMPLES\n" + lines_as_they_are(text.examples);
  out += ".SH SEE ALSO\n";
  std::string_view separator;
  for (const std::string_view tool : kTools) {
    if (tool == name) continue;
    out.append(separator).append(bold(tool)).append("(1)");
    separator = ", ";
  }
  return out + "\n";
}

}  // namespace nmb::tools
