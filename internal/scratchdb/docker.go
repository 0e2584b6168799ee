package scratchdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"fleet/internal/proc"
	"fleet/roster"
)

const (
	image        = "postgres:16-alpine"
	label        = "cfn-fleet" // its value is the name of the run dir
	pullTimeout  = 10 * time.Minute
	readyTimeout = 30 * time.Second
)

// Docker runs a container for each workstream.
type Docker struct {
	Run     proc.Runner
	Program string // docker, or podman, which understands the same words
	Slug    string // of the run
	RunName string // the name of the run dir, which marks the containers
}

// Database is the one in the container of a workstream. A container that was stopped
// is started, and may have another port then.
func (d Docker) Database(ctx context.Context, ws string) (string, error) {
	name := d.Slug + "-" + strings.ToLower(ws)
	if err := d.up(ctx, name); err != nil {
		return "", err
	}
	// Over TCP: while the image prepares its data, a server answers on the socket that goes away again.
	short, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := await(short, time.Second, func() bool {
		_, err := d.docker(short, "exec", name, "pg_isready", "-h", "127.0.0.1", "-U", "fleet", "-d", "fleet")
		return err == nil
	}); err != nil {
		return "", fmt.Errorf("the database in container %s is not ready after %v; %s logs %s tells more", name, readyTimeout, d.Program, name)
	}
	out, err := d.docker(ctx, "port", name, "5432/tcp")
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(out, "\n") // 0.0.0.0:32768, and perhaps another one for IPv6
	_, port, err := net.SplitHostPort(first)
	if err != nil {
		return "", fmt.Errorf("%s port %s said %q: %w", d.Program, name, out, err)
	}
	return "postgres://fleet:fleet@127.0.0.1:" + port + "/fleet", nil
}

// up makes the container run.
func (d Docker) up(ctx context.Context, name string) error {
	out, err := d.docker(ctx, "container", "inspect", "--format", `{{.State.Running}} {{index .Config.Labels "`+label+`"}}`, name)
	running, mark, _ := strings.Cut(out, " ")
	switch {
	case noSuchContainer(err):
		ctx, cancel := context.WithTimeout(ctx, pullTimeout) // the first time, the image is fetched
		defer cancel()
		_, err = d.docker(ctx, "run", "-d", "--name", name, "--label", label+"="+d.RunName,
			"-e", "POSTGRES_USER=fleet", "-e", "POSTGRES_PASSWORD=fleet", "-e", "POSTGRES_DB=fleet", "-P", image)
		return err
	case err != nil:
		return d.silent(err)
	case mark != d.RunName:
		return roster.Refusef("container %s is not this run's", name).Hinted("look at it: %s ps -a; then rename or remove it", d.Program)
	case running != "true":
		_, err = d.docker(ctx, "start", name)
		return err
	}
	return nil
}

// Remove removes containers, and their data with them. Where docker isn't installed there are none.
func (d Docker) Remove(ctx context.Context, every bool) ([]string, error) {
	filter := "label=" + label
	if !every {
		filter += "=" + d.RunName
	}
	out, err := d.docker(ctx, "ps", "-a", "--filter", filter, "--format", "{{.Names}}")
	names := strings.Fields(out)
	switch {
	case proc.Missing(err):
		return nil, nil
	case err != nil:
		return nil, d.silent(err)
	case len(names) == 0:
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if _, err := d.docker(ctx, append([]string{"stop"}, names...)...); err != nil {
		return nil, err
	}
	if _, err := d.docker(ctx, append([]string{"rm", "--volumes"}, names...)...); err != nil {
		return nil, err
	}
	return names, nil
}

func (d Docker) docker(ctx context.Context, args ...string) (string, error) {
	out, err := d.Run(ctx, proc.Cmd{Args: append([]string{d.Program}, args...)})
	return strings.TrimSpace(string(out)), err
}

// silent is the error of a docker that can't be asked.
func (d Docker) silent(err error) error {
	if proc.Missing(err) {
		return roster.Refusef("%s is not installed", d.Program).Hinted("install it, or set FLEET_DB=local in fleet.env")
	}
	return roster.Refusef("%s does not answer: %v", d.Program, err).Hinted("is its daemon up? see: %s info", d.Program)
}

func noSuchContainer(err error) bool {
	failed, ok := errors.AsType[*proc.Error](err)
	return ok && strings.Contains(strings.ToLower(failed.Stderr), "no such container")
}
