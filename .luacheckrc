exclude_files = { "build*" }
std = "min"
max_line_length = 110
files["spec"] = { std = "lua54+busted" }
files["examples"] = { std = "lua54" }
files["tools"] = { std = "lua54" }
files["bench"] = { std = "lua54" }
files["src/runners/lua"] = { std = "lua54", globals = { "arg" } }
files["rockspec"] = { std = "rockspec" }
