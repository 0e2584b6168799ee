//go:build e2e

package web_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"fleet/roster/rundir"
)

var (
	fleetBin string
	axeFile  string          // axe-core, as a script
	chromium context.Context // the browser, of which each test has a tab
)

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	axeFile = os.Getenv("FLEET_E2E_AXE")
	if _, err := os.Stat(axeFile); err != nil {
		fmt.Fprintln(os.Stderr, "FLEET_E2E_AXE must name axe.min.js: run make e2e")
		return 1
	}
	dir, err := os.MkdirTemp("", "fleet-web-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	fleetBin = filepath.Join(dir, "fleet")
	if out, err := exec.Command("go", "build", "-o", fleetBin, "fleet/cmd/fleet").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build fleet: %v\n%s", err, out)
		return 1
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.DisableGPU, chromedp.UserDataDir(filepath.Join(dir, "profile")),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	browser, quit := chromedp.NewContext(allocator)
	defer quit()
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintln(os.Stderr, "start chromium:", err)
		return 1
	}
	chromium = browser
	return m.Run()
}

// server is a running fleet serve.
type server struct {
	t    *testing.T
	dir  *rundir.Dir
	addr string
	cmd  *exec.Cmd
}

// serve starts fleet serve on a run, and stops it at the end of the test.
func serve(t *testing.T, dir *rundir.Dir) *server {
	t.Helper()
	s := &server{t: t, dir: dir, addr: "127.0.0.1:0"}
	s.start()
	t.Cleanup(s.stop)
	return s
}

var address = regexp.MustCompile(`http://([0-9.:]+)`)

// start waits until the server says where it is; once stopped, it starts where it was.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(fleetBin, "serve", "--run-dir", s.dir.Path, "--addr", s.addr)
	said, err := s.cmd.StdoutPipe()
	check(s.t, err)
	var fault strings.Builder
	s.cmd.Stderr = &fault
	check(s.t, s.cmd.Start())
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			s.addr = found[1]
			return
		}
	}
	s.t.Fatalf("fleet serve has not said where it is: %v\n%s", s.cmd.Wait(), fault.String())
}

func (s *server) stop() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
	}
}

func (s *server) url() string { return "http://" + s.addr + "/" }

// tab is a tab of the browser. What its page complains of fails the test.
type tab struct {
	t        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	faults   []string
	expected *regexp.Regexp // complaints that belong to the test
}

const (
	phone   = 390
	desktop = 1280
	wide    = 1600
)

func newTab(t *testing.T, width int64, scheme string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium)
	b := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			if b.expected == nil || !b.expected.MatchString(fault) {
				t.Errorf("the console says: %s", fault)
			}
		}
	})
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" || m.Type == "warning" {
				b.mu.Lock()
				b.faults = append(b.faults, m.String()+" "+m.URL)
				b.mu.Unlock()
			}
		}
	}()
	b.size(width)
	b.media("prefers-color-scheme", scheme)
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	check(b.t, chromedp.Do(ctx, steps...))
}

// expectFaults lets pass what belongs to the test, such as a server that is gone.
func (b *tab) expectFaults(pattern string) { b.expected = regexp.MustCompile(pattern) }

func (b *tab) size(width int64) { b.do(chromedp.EmulateViewport(width, 900)) }

// media sets media features, given in pairs of name and value.
func (b *tab) media(pairs ...string) {
	b.t.Helper()
	var features []*emulation.MediaFeature
	for pair := range slices.Chunk(pairs, 2) {
		features = append(features, &emulation.MediaFeature{Name: pair[0], Value: pair[1]})
	}
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	check(b.t, err)
}

// open loads a page and waits until it shows workers.
func (b *tab) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
	b.await(`document.querySelector('.card') !== null`)
}

// openRun serves a run and opens its page.
func openRun(t *testing.T, s *scene) *tab {
	t.Helper()
	url := serve(t, s.dir).url() // first, so that it outlives the tab
	b := newTab(t, desktop, "light")
	b.open(url)
	return b
}

// live waits until the page hears of events as they happen.
func (b *tab) live() { b.t.Helper(); b.await(`byID('feed').dataset.feed === 'live'`) }

// await waits until an expression of the page is true.
func (b *tab) await(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 40*time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(30*time.Second), chromedp.WithPollingInterval(50*time.Millisecond))); err != nil {
		b.t.Fatalf("waited in vain until %s: %v\n%s", expression, err, b.text("body"))
	}
}

// eval is the value of an expression of the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// text is what stands in an element, as far as it is shown.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%q).innerText`, selector))
}

func (b *tab) wantText(selector string, wants ...string) {
	b.t.Helper()
	got := b.text(selector)
	for _, want := range wants {
		if !strings.Contains(got, want) {
			b.t.Errorf("%s lacks %q:\n%s", selector, want, got)
		}
	}
}
