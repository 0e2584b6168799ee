package scratchdb

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fleet/internal/proc"
	"fleet/roster"
)

// docker answers each kind of call with a text, or an error where the text begins with "!".
func docker(answers map[string]string) (d Docker, calls *[]string) {
	calls = new([]string)
	run := func(_ context.Context, c proc.Cmd) ([]byte, error) {
		*calls = append(*calls, strings.Join(c.Args, " "))
		answer, known := answers[c.Args[1]]
		if says, bad := strings.CutPrefix(answer, "!"); bad || !known {
			return nil, &proc.Error{Args: c.Args, Code: 1, Stderr: says, Err: errors.New("exit status 1")}
		}
		return []byte(answer + "\n"), nil
	}
	return Docker{Run: run, Program: "docker", Slug: "shop", RunName: "fleet-shop"}, calls
}

// CFN-86: a server that never gets ready is given up after 30 s, asked once a second.
func TestDockerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, calls := docker(map[string]string{"container": "true fleet-shop", "exec": "!no response"})
		start := time.Now()
		_, err := d.Database(t.Context(), "WS01")
		if err == nil || roster.KindOf(err) != 0 || !strings.Contains(err.Error(), "shop-ws01 is not ready after 30s") {
			t.Errorf("error: %v", err)
		}
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("it took %v", took)
		}
		asked := slices.DeleteFunc(*calls, func(c string) bool { return !strings.Contains(c, "pg_isready") })
		if len(asked) < 30 || len(asked) > 31 {
			t.Errorf("asked %d times", len(asked))
		}
	})
}

// CFN-86: what can't be asked is a guard's no, and what fails is an error; nothing is started after it.
func TestDockerFails(t *testing.T) {
	for what, c := range map[string]struct {
		answers map[string]string
		kind    roster.Kind
		says    string
		calls   int
	}{
		"down":        {map[string]string{"container": "!Cannot connect to the Docker daemon"}, roster.Refused, "docker does not answer: ", 1},
		"foreign":     {map[string]string{"container": "true fleet-other"}, roster.Refused, "container shop-ws01 is not this run's", 1},
		"unmarked":    {map[string]string{"container": "false"}, roster.Refused, "container shop-ws01 is not this run's", 1},
		"no image":    {map[string]string{"container": "!Error: no such container shop-ws01", "run": "!pull access denied"}, 0, "docker run -d: exit status 1: pull access denied", 2},
		"won't start": {map[string]string{"container": "false fleet-shop", "start": "!no space"}, 0, "docker start shop-ws01: exit status 1: no space", 2},
		"no port":     {map[string]string{"container": "true fleet-shop", "exec": "", "port": "!no public port"}, 0, "docker port shop-ws01: exit status 1: no public port", 3},
		"odd port":    {map[string]string{"container": "true fleet-shop", "exec": "", "port": "none"}, 0, `docker port shop-ws01 said "none"`, 3},
	} {
		d, calls := docker(c.answers)
		_, err := d.Database(t.Context(), "WS01")
		if err == nil || roster.KindOf(err) != c.kind || !strings.HasPrefix(err.Error(), c.says) || len(*calls) != c.calls {
			t.Errorf("%s: %v, after %q", what, err, *calls)
		}
	}
}

// CFN-87: without docker there is nothing to remove, which is no error.
func TestDockerRemoveWithoutDocker(t *testing.T) {
	run := func(context.Context, proc.Cmd) ([]byte, error) {
		return nil, &proc.Error{Code: -1, Err: &exec.Error{Name: "docker", Err: exec.ErrNotFound}}
	}
	removed, err := Docker{Run: run, Program: "docker"}.Remove(t.Context(), true)
	if len(removed) > 0 || err != nil {
		t.Errorf("%v, %v", removed, err)
	}
}

// CFN-87: the data go with the container.
func TestDockerRemove(t *testing.T) {
	d, calls := docker(map[string]string{"ps": "a-ws01\nb-ws02", "stop": "", "rm": ""})
	removed, err := d.Remove(t.Context(), true)
	if err != nil || !slices.Equal(removed, []string{"a-ws01", "b-ws02"}) {
		t.Errorf("%v, %v", removed, err)
	}
	want := []string{
		"docker ps -a --filter label=cfn-fleet --format {{.Names}}",
		"docker stop a-ws01 b-ws02", "docker rm --volumes a-ws01 b-ws02",
	}
	if !slices.Equal(*calls, want) {
		t.Errorf("calls %q", *calls)
	}
}
