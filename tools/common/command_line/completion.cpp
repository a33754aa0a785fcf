// The scripts need no functions of other packages.
#include "common/command_line/completion.h"

#include <algorithm>
#include <vector>

#include "common/command_line/tool.h"

namespace nmb::tools {
namespace {

constexpr std::size_t kDescriptionWidth = 72;

// How the value of an option is completed.
struct Value {
  enum class Kind { kNone, kFlag, kFile, kFolder, kWords };  // kNone: nothing completes the value
  Kind kind = Kind::kNone;
  std::vector<std::string> words = {};
};

struct Option {
  std::vector<std::string> names;  // "-f", "--force"
  Value value;
  std::string value_name;
  std::string description;
};

// The arguments of a tool or of a subcommand.
struct Command {
  std::string name;  // name of a subcommand
  std::string description;
  std::vector<Option> options;
  bool takes_files = false;
};

bool is_file(std::string_view type_name) {
  return type_name == "FILE" || type_name == "INPUT" || type_name == "OUT" ||
         type_name == "OUTPUT" || type_name == "OTHER";
}

Value value_of_option(CLI::Option& option) {
  if (option.get_type_size() == 0) return {Value::Kind::kFlag};
  if (std::vector<std::string> words = words_of(option); !words.empty())
    return {Value::Kind::kWords, std::move(words)};
  if (option.get_type_name() == "DIR") return {Value::Kind::kFolder};
  return {is_file(option.get_type_name()) ? Value::Kind::kFile : Value::Kind::kNone};
}

Command command_of(CLI::App& app) {
  Command command{app.get_name(), brief(app.get_description(), kDescriptionWidth), {}, false};
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_positional()) {
      command.takes_files = command.takes_files || is_file(names_of(*option));
      continue;
    }
    Option out{{},
               value_of_option(*option),
               option->get_type_name(),
               brief(option->get_description(), kDescriptionWidth)};
    for (const std::string& name : option->get_snames()) out.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) out.names.push_back("--" + name);
    command.options.push_back(std::move(out));
  }
  return command;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(separator)) + word;
  return out;
}

// `escaped` stands for a single quote in the text.
std::string quoted(std::string_view text, std::string_view escaped) {
  std::string out = "'";
  for (const char c : text)
    if (c == '\'')
      out += escaped;
    else
      out += c;
  return out + "'";
}

// --- bash ---

std::string bash_case(const Command& command) {
  std::vector<std::string> names;
  std::string values;
  for (const Option& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    const std::string pattern = "        " + joined(option.names, " | ") + ") ";
    switch (option.value.kind) {
      case Value::Kind::kFlag:
        break;
      case Value::Kind::kNone:
        values += pattern + "value=none ;;\n";
        break;
      case Value::Kind::kFile:
        values += pattern + "value=file ;;\n";
        break;
      case Value::Kind::kFolder:
        values += pattern + "value=folder ;;\n";
        break;
      case Value::Kind::kWords:
        values += pattern +
                  "value=words words=" + quoted(joined(option.value.words, " "), "'\\''") + " ;;\n";
    }
  }
  return "    " + (command.name.empty() ? "*" : command.name) +
         ")\n      options=" + quoted(joined(names, " "), "'\\''") + "\n      case $option in\n" +
         values + "      esac\n      ;;\n";
}

std::string bash_script(const Command& tool, const std::vector<Command>& commands) {
  std::string names, cases;
  for (const Command& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    cases += bash_case(command);
  }
  Command outside = tool;
  outside.name.clear();
  cases += bash_case(outside);
  return "# bash completion for " + tool.name + "\n_" + tool.name + "() {\n" +
         "  local word=${COMP_WORDS[COMP_CWORD]} option= value= words= options= command= i\n"
         "  local -r commands=" +
         quoted(names, "'\\''") +
         "\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \" $commands \" in *\" ${COMP_WORDS[i]} \"*) command=${COMP_WORDS[i]}; break ;; "
         "esac\n"
         "  done\n"
         "  # The option whose value the word is: --option value, or --option=value, which bash "
         "divides at the =.\n"
         "  option=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  [[ $option == = ]] && option=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "  [[ $word == = ]] && word=\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "  case $value in\n"
         "    none) compopt +o default ;;\n"
         "    words) compopt +o default; mapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
         "\"$word\") ;;\n"
         "    folder) compopt -o dirnames +o default ;;\n"
         "    file) ;;\n"
         "    *)\n"
         "      if [[ $word == -* ]]; then\n"
         "        compopt +o default\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
         "      elif [[ -n $commands && -z $command ]]; then\n"
         "        compopt -o filenames\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\"; compgen -f -- "
         "\"$word\")\n"
         "      fi\n"
         "      ;;\n"
         "  esac\n"
         "}\ncomplete -o default -F _" +
         tool.name + " " + tool.name + "\n";
}

// --- zsh ---

// Returns a text for a description in brackets, or after a colon.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_arguments(const Command& command, const std::string& indent) {
  std::string out = indent + "_arguments -s -S";
  const auto add = [&](const std::string& spec) {
    out += " \\\n" + indent + "  " + quoted(spec, "'\\''");
  };
  for (const Option& option : command.options) {
    std::string value;
    if (option.value.kind != Value::Kind::kFlag) value = ":" + zsh_text(option.value_name) + ":";
    if (option.value.kind == Value::Kind::kFile) value += "_files";
    if (option.value.kind == Value::Kind::kFolder) value += "_files -/";
    if (option.value.kind == Value::Kind::kNone) value += " ";
    if (option.value.kind == Value::Kind::kWords)
      value += "(" + joined(option.value.words, " ") + ")";
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      const char* const end = value.empty() ? "" : is_long ? "=" : "+";
      add("(" + joined(option.names, " ") + ")" + name + end + "[" + zsh_text(option.description) +
          "]" + value);
    }
  }
  add(command.takes_files ? "*: :_files" : "*: : ");
  return out + "\n";
}

std::string zsh_script(const Command& tool, const std::vector<Command>& commands) {
  const std::string head = "#compdef " + tool.name + "\n";
  const std::string tail = "_" + tool.name + " \"$@\"\n";
  if (commands.empty())
    return head + "_" + tool.name + "() {\n" + zsh_arguments(tool, "  ") + "}\n" + tail;
  std::string list, cases;
  for (const Command& command : commands) {
    list += "    " + quoted(command.name + ":" + zsh_text(command.description), "'\\''") + "\n";
    cases += "      " + command.name + ")\n        words=(\"${(@)words[i,-1]}\")\n" +
             "        ((CURRENT -= i - 1))\n" + zsh_arguments(command, "        ") +
             "        return ;;\n";
  }
  return head + "_" + tool.name + "() {\n  local -a commands\n  local i\n  commands=(\n" + list +
         "  )\n"
         "  for ((i = 2; i < CURRENT; ++i)); do\n"
         "    case $words[i] in\n" +
         cases +
         "    esac\n"
         "  done\n"
         "  if [[ $words[CURRENT] == -* ]]; then\n" +
         zsh_arguments(tool, "    ") +
         "  else\n"
         "    _describe command commands\n"
         "    _files\n"
         "  fi\n"
         "}\n" +
         tail;
}

// --- fish ---

std::string fish_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_options(const Command& command, const std::string& head) {
  std::string out;
  for (const Option& option : command.options) {
    out += head;
    for (const std::string& name : option.names)
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    switch (option.value.kind) {
      case Value::Kind::kFlag:
        break;
      case Value::Kind::kNone:
        out += " -x";
        break;
      case Value::Kind::kFile:
        out += " -r -F";
        break;
      case Value::Kind::kFolder:
        out += " -x -a '(__fish_complete_directories)'";
        break;
      case Value::Kind::kWords:
        out += " -x -a " + fish_text(joined(option.value.words, " "));
    }
    out += " -d " + fish_text(option.description) + "\n";
  }
  return out;
}

std::string fish_script(const Command& tool, const std::vector<Command>& commands) {
  const std::string head = "complete -c " + tool.name;
  std::string out = "# fish completion for " + tool.name + "\n";
  if (commands.empty()) return out + fish_options(tool, head);
  out += fish_options(tool, head + " -n __fish_use_subcommand");
  for (const Command& command : commands) {
    out += head + " -n __fish_use_subcommand -a " + command.name + " -d " +
           fish_text(command.description) + "\n";
    out += fish_options(command,
                        head + " -n " + fish_text("__fish_seen_subcommand_from " + command.name));
  }
  return out;
}

}  // namespace

std::optional<std::string> completion_script(CLI::App& app, std::string_view shell) {
  const Command tool = command_of(app);
  std::vector<Command> commands;
  for (CLI::App* const command : app.get_subcommands([](CLI::App*) { return true; }))
    commands.push_back(command_of(*command));
  if (shell == "bash") return bash_script(tool, commands);
  if (shell == "zsh") return zsh_script(tool, commands);
  if (shell == "fish") return fish_script(tool, commands);
  return std::nullopt;
}

}  // namespace nmb::tools
