package agent

import (
	"cmp"
	"os"
	"path/filepath"
)

// glm is Claude Code on the GLM models of Z.ai. Its configuration dir is one of its own: with the
// user's, it would send the user's token of another service there. Each value has a variable that replaces it.
func glm() Brain {
	b := claude("glm", "sonnet")
	b.provider = "zai"
	b.unset = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "CLAUDE_CODE_OAUTH_TOKEN"}
	b.launch = func(j Job) (Command, error) {
		model := cmp.Or(j.Model, os.Getenv("FLEET_WORKER_MODEL"), "GLM-5.2")
		j.Model, j.Effort = "", cmp.Or(j.Effort, os.Getenv("FLEET_WORKER_EFFORT"), "high")
		c := claudeCommand(j, "sonnet")
		dir := os.Getenv("FLEET_WORKER_CONFIG_DIR")
		if dir == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return c, err
			}
			dir = filepath.Join(home, ".fleet-worker", "cfg-"+j.Name)
		}
		c.Set = append(
			c.Set,
			"CLAUDE_CONFIG_DIR="+dir,
			"ANTHROPIC_BASE_URL="+cmp.Or(os.Getenv("FLEET_WORKER_BASE_URL"), "https://api.z.ai/api/anthropic"),
			"ANTHROPIC_DEFAULT_OPUS_MODEL="+model, "ANTHROPIC_DEFAULT_SONNET_MODEL="+model,
			"ANTHROPIC_DEFAULT_HAIKU_MODEL="+cmp.Or(os.Getenv("FLEET_WORKER_SMALL_MODEL"), "GLM-4.5-Air"),
		)
		return c, os.MkdirAll(dir, 0o700)
	}
	b.service.keys = []string{"ANTHROPIC_AUTH_TOKEN", "ZHIPU_API_KEY", "GLM_API_KEY"}
	return b
}
