// fleet's hooks inside opencode: the write check before a tool runs, what it wrote after it, and the turns.
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"

const { hooks } = JSON.parse(readFileSync(process.env.FLEET_HOOKS, "utf8"))
const writes = { write: "Write", edit: "Edit", bash: "Bash", patch: "apply_patch", apply_patch: "apply_patch" }
const reads = ["read", "glob", "grep", "list", "webfetch", "websearch", "codesearch", "todowrite", "todoread", "task", "skill", "question", "lsp", "invalid"]

function run({ command, timeout }, input) {
  return new Promise((done) => {
    const hook = spawn("/bin/sh", ["-c", command], { stdio: ["pipe", "pipe", "ignore"], timeout: timeout * 1000 })
    let out = ""
    hook.stdout.on("data", (text) => (out += text))
    hook.on("error", () => done(undefined))
    hook.on("close", () => {
      try { done(JSON.parse(out)) } catch { done(undefined) }
    })
    hook.stdin.on("error", () => {})
    hook.stdin.end(JSON.stringify(input))
  })
}

export const Fleet = async ({ client, directory }) => {
  let root // the session of the worker; subagents have others
  const began = {}
  const fire = (event, fields) => {
    const input = { hook_event_name: event, session_id: root, cwd: directory, ...fields }
    return run(hooks[event][0].hooks[0], input)
  }
  const call = (tool, args) => ({
    tool_name: writes[tool],
    tool_input: { file_path: args.filePath, command: args.patchText ?? args.command },
  })
  return {
    event: async ({ event }) => {
      const about = event.properties ?? {}
      if (event.type === "session.created" && !about.info?.parentID && !root) {
        root = about.info?.id ?? about.sessionID
        await fire("SessionStart", { source: "startup" })
      }
      if (about.sessionID !== root) return
      if (event.type === "session.error") {
        await fire("StopFailure", { error: about.error?.data?.message ?? about.error?.name ?? "an error" })
      }
      if (event.type === "session.idle") {
        const next = await fire("Stop", {})
        if (next?.decision === "block") {
          await client.session.prompt({ path: { id: root }, body: { parts: [{ type: "text", text: next.reason }] } })
        }
      }
    },
    "chat.message": async ({ sessionID }, { parts }) => {
      if (sessionID !== root) return
      await fire("UserPromptSubmit", { prompt: parts.map((p) => p.text ?? "").join("\n") })
    },
    "tool.execute.before": async ({ tool, callID }, { args }) => {
      if (reads.includes(tool)) return
      if (!writes[tool]) throw new Error(`fleet does not know the tool ${tool}, so it can't check what that writes`)
      const answer = (await fire("PreToolUse", call(tool, args)))?.hookSpecificOutput
      if (answer?.permissionDecision !== "allow") throw new Error(answer?.permissionDecisionReason ?? "fleet's write check gave no answer")
      began[callID] = { at: Date.now(), args }
    },
    "tool.execute.after": async ({ tool, callID }) => {
      if (!began[callID]) return
      const { at, args } = began[callID]
      delete began[callID]
      await fire("PostToolUse", { ...call(tool, args), duration_ms: Date.now() - at })
    },
  }
}
