//go:build e2e

package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"fleet/roster"
)

// The page shows all of a run, and its console stays empty (FF-77, FF-78).
func TestPageShowsTheRun(t *testing.T) {
	s := shop(t)
	b := openRun(t, s)
	b.live()
	b.wantText("#run", "shop", "webshop", "workers\n8", "running", "finished", "oldest", "live")
	b.wantText("#alerts", "Needs you", "asks", "npm install --global redocly_cli", "fleet attach", "T17", "failed", "fleet task retry T17")
	b.wantText("#workers", "WS01", "orders", "running", "blocked", "tokens")
	b.wantText("#tasks", "T16")
	if whole := eval[string](b, `document.querySelector('.node[data-id=T16] title').textContent`); !strings.Contains(whole, "translate the mails") { // what is seen depends on the font
		t.Errorf("T16 is called %q", whole)
	}
	b.wantText("#timeline", "WS06", "T7", "denied write")
	b.wantText("#files", "pay/charge.go", "WS06")
	b.await(`document.querySelector('#events li') !== null`)
	b.wantText("#log", "wrote mail/confirm.html", "T9", "DENIED pay/charge.go")
	for selector, want := range map[string]int{"#pips .pip": 8, ".card": 8, ".node": 20, ".edge": 23} {
		if got := eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector)); got != want {
			t.Errorf("%s: there are %d, want %d", selector, got, want)
		}
	}
	// Every task stands right of all that it depends on.
	if wrong := eval[[]string](b, `[...document.querySelectorAll('.edge')].filter(e => e.edge.from.x >= e.edge.to.x).map(e => e.edge.key)`); len(wrong) > 0 {
		t.Errorf("edges that lead back: %q", wrong)
	}
	if pulse := eval[string](b, `getComputedStyle(document.querySelector('#pips [data-state=running]')).animationName`); pulse != "pulse" {
		t.Errorf("a running pip has the animation %q", pulse)
	}
	b.media("prefers-reduced-motion", "reduce")
	b.await(`getComputedStyle(document.querySelector('#pips [data-state=running]')).animationName === 'none'`)
}

// Durations are said in h, m and s, quantities in k and M; each brain has a letter, Grok too, and profiles of the user's own have two (FF-78, FF-79).
func TestPageWords(t *testing.T) {
	s := newScene(t, "words", cast{{"WS01", "one", "grok"}, {"WS02", "two", "constructor"}, {"WS03", "three", "codex"}}, nil)
	b := openRun(t, s)
	for expression, want := range map[string]string{
		`duration(0)`: "0s", `duration(59.9)`: "59s", `duration(61)`: "1m 01s", `duration(3599)`: "59m 59s", `duration(7384)`: "2h 03m", `duration(-5)`: "0s",
		`quantity(0)`: "0", `quantity(999)`: "999", `quantity(1234)`: "1.2k", `quantity(41000)`: "41k", `quantity(999900)`: "1.0M", `quantity(12345678)`: "12M",
		`[...document.querySelectorAll('.chip')].map(c => c.textContent).join(' ')`:                                "K CO X",
		`document.querySelector('#worker-WS02 .chip').getAttribute('aria-label')`:                                  "constructor",
		`new Set(brainLetters.values()).size === brainLetters.size && brainLetters.size === 12 ? 'unique' : 'not'`: "unique",
	} {
		if got := eval[string](b, expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
}

// What an agent of another service reports as its cost is never shown as spend (FF-102).
func TestPageCost(t *testing.T) {
	plans := []plan{
		{NewTask: roster.NewTask{ID: "T1", Title: "one"}, minutes: 10, writes: []string{"a"}},
		{NewTask: roster.NewTask{ID: "T2", Title: "two"}, minutes: 10, writes: []string{"b"}},
	}
	s := newScene(t, "cost", cast{{"WS01", "mine", "claude"}, {"WS02", "theirs", "glm"}}, plans)
	s.play(12)
	b := openRun(t, s)
	b.wantText("#stats", "spent\n$1.10")
	for id, want := range map[string]bool{"WS01": true, "WS02": false} {
		b.do(chromedp.Click("#worker-" + id + " summary"))
		b.await(fmt.Sprintf(`document.querySelector('#worker-%s .detail').innerText.includes('Brain')`, id))
		if text := b.text("#worker-" + id); strings.Contains(text, "$") != want {
			t.Errorf("%s: shows a cost is %v, want %v:\n%s", id, !want, want, text)
		}
	}
}

// A denied write stands on an open page without a reload, in the log and for the worker.
func TestPageShowsAVetoLive(t *testing.T) {
	var plans []plan
	for _, id := range []string{"T1", "T2"} {
		plans = append(plans, plan{NewTask: roster.NewTask{ID: id, Title: "write " + id}, writes: []string{"part/" + id + ".go"}, minutes: 60})
	}
	s := newScene(t, "veto", cast{{"WS01", "one", "claude"}, {"WS02", "two", "claude"}}, plans)
	s.play(1)
	b := openRun(t, s)
	b.live()
	b.do(chromedp.Evaluate[chromedp.Void](`window.stays = true`))
	s.update(func(st *roster.State) error {
		w, _ := st.Workstream("WS01")
		st.AcquireLeases(roster.WriteRequest{WS: w.ID, Epoch: w.Epoch, Paths: []string{"part/T2.go"}, Tool: "Edit", Alive: func(string) bool { return true }})
		return st.TurnEnded(w.ID, w.Epoch, "I wait")
	})
	b.await(`byID('events').innerText.includes('DENIED part/T2.go: WS02 (T2) holds it')`)
	b.await(`document.querySelector('#worker-WS01').dataset.state === 'blocked'`)
	b.wantText("#waits", "WS01", "WS02", "part/T2.go")
	b.wantText("#alerts", "WS01", "waits for a file")
	b.await(`document.querySelector('#spans .bar[data-tone=wait]')?.innerText === 'T1'`) // the attempt that was given back
	b.wantText("#spans li", "WS01")
	if !eval[bool](b, `window.stays`) {
		t.Error("the page was loaded anew")
	}
}

func TestPageFilters(t *testing.T) {
	s := shop(t)
	b := openRun(t, s)
	b.await(`document.querySelector('#events li') !== null`)
	b.do(chromedp.SendKeys("#find", "ws04 DENIED"))
	b.await(`document.querySelector('#events li')?.dataset.tone === 'bad'`)
	if rows := eval[[]string](b, `[...document.querySelectorAll('#events li')].map(r => r.innerText)`); len(rows) == 0 {
		t.Error("the filter lets nothing by")
	} else {
		for _, row := range rows {
			if !strings.Contains(row, "WS04") || !strings.Contains(row, "DENIED") {
				t.Errorf("the filter lets this by: %q", row)
			}
		}
	}
	b.do(chromedp.SendKeys("#find", " nothing of the kind"))
	b.await(`document.querySelector('#log .empty').innerText === 'No event passes the filter.'`)
	b.do(chromedp.Evaluate[chromedp.Void](`byID('find').value = ''; byID('kind').value = 'trouble'; byID('kind').dispatchEvent(new Event('change'))`))
	b.await(`[...document.querySelectorAll('#events li')].every(r => r.dataset.tone === 'bad' || r.dataset.tone === 'wait') && document.querySelector('#events li') !== null`)
	b.do(chromedp.Click(`#states button:nth-child(2)`))
	b.await(`[...document.querySelectorAll('.card')].every(c => c.dataset.state === 'running')`)
}

// A worker's detail stays open across looks and reloads, and has all there is (FF-77, FF-78).
func TestPageExpandsAndRemembers(t *testing.T) {
	s := shop(t)
	b := openRun(t, s)
	b.do(chromedp.Focus("#worker-WS06 summary"), chromedp.KeyEvent("\r")) // by keyboard
	b.await(`document.querySelector('#worker-WS06').open`)
	b.await(`document.querySelector('#worker-WS06 .detail').innerText.includes('charge a card. Change nothing else.')`)
	b.wantText("#worker-WS06 .detail", "T7", "1 of 3", "pay/charge.go", "pay/retry.go", "glm, interactive")
	b.do(chromedp.Reload())
	b.await(`document.querySelector('#worker-WS06')?.open && !document.querySelector('#worker-WS01').open`)
	b.wantText("#worker-WS06 .detail", "pay/retry.go")
}

// The page outlives its server: it says that there is no answer, and goes on where it was, with no event lost or shown twice.
func TestPageSurvivesARestart(t *testing.T) {
	s := crowd(t, 2, 0)
	srv := serve(t, s.dir)
	b := newTab(t, desktop, "light")
	b.expectFaults(`ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET`)
	b.open(srv.url())
	b.live()
	srv.stop()
	b.await(`byID('feed').dataset.feed === 'lost'`)
	b.await(`!byID('warning').hidden && byID('warning').innerText.includes('this is how it was at')`) // after the third miss
	b.wantText("#workers", "WS01", "WS02")
	s.update(func(st *roster.State) error {
		st.Note(roster.FileChanged, "WS01", "", map[string]any{"path": "while/away.go", "tool": "Edit"})
		return nil
	})
	srv.start()
	b.live()
	b.await(`byID('events').innerText.includes('while/away.go')`)
	b.await(`byID('warning').hidden`)
	if n := eval[int](b, `byID('events').innerText.split('while/away.go').length - 1`); n != 1 {
		t.Errorf("the event stands there %d times", n)
	}
}

// A run that is reset begins anew on an open page, its log, too.
func TestPageOfAResetRun(t *testing.T) {
	s := crowd(t, 3, 100)
	b := openRun(t, s)
	b.await(`document.querySelectorAll('.node').length === 3 && byID('events').innerText.includes('part/99.go')`)
	check(t, s.dir.Reset(t.Context()))
	b.await(`byID('tasks').hidden && !byID('events').innerText.includes('part/99.go')`)
	s.update(func(st *roster.State) error { return st.Block("WS02", "what now?") })
	b.await(`byID('events').innerText.includes('what now?')`)
	b.live()
}

// An empty or missing list of lanes is a miss: the last state stays, and after three the page says so (FF-78). Each look asks for an address of its own.
func TestPageMisses(t *testing.T) {
	const good = `{"run":"shop","now":"2026-01-02T03:04:05.000Z","lanes":[{"id":"WS01","state":"running","brain":"claude"}]}`
	asked, answers := make(chan string), make(chan string)
	files := http.FileServerFS(os.DirFS("page"))
	static := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/status.json" {
			files.ServeHTTP(w, r)
			return
		}
		select {
		case asked <- r.URL.RawQuery:
			fmt.Fprint(w, <-answers)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(static.Close)
	b := newTab(t, desktop, "light")
	b.expectFaults(`events/stream`) // a static server has none
	addresses := make(map[string]bool)
	next := func(answer string) { // what has been answered before is shown by now
		addresses[<-asked] = true
		if answer != good && !eval[bool](b, `byID('warning').hidden`) {
			t.Errorf("a warning after %d looks", len(addresses)-1)
		}
		b.do(chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new Event('visibilitychange'))`)) // look again soon
		answers <- answer
	}
	b.do(chromedp.Navigate(static.URL))
	for _, answer := range []string{good, `{"lanes":[]}`, `{}`, `{"lanes":[]}`} {
		next(answer)
	}
	b.await(`!byID('warning').hidden`)
	b.wantText("#warning", "no workers", "this is how it was at")
	b.wantText("#workers", "WS01")
	next(good)
	b.await(`byID('warning').hidden`)
	if len(addresses) != 5 {
		t.Errorf("5 looks asked for %d addresses", len(addresses))
	}
}

// A page on the disk reads what lies beside it, under the page's own policy, and shows all figures of a lane, in groups by phase (FF-73, FF-77, FF-78).
func TestPageFromDisk(t *testing.T) {
	dir := t.TempDir()
	check(t, os.CopyFS(dir, os.DirFS("page")))
	check(t, os.WriteFile(filepath.Join(dir, "status.js"), []byte(`window.fleetStatus = {"run":"shop","now":"2026-01-02T03:04:05.000Z","lanes":[
		{"id":"a","phase":"build","state":"running","brain":"claude","started":"2026-01-02T02:00:00.000Z","elapsed_s":3845,"tools":41,"commits":1,"tokens":1234567,"cost_usd":2.5,
			"activity":"go test ./...","last_commit":"Keep orders","artifact":"results/a.md","err_tail":"exit status 1"},
		{"id":"b","phase":"build","state":"done","brain":"codex"},{"id":"c","phase":"review","state":"failed","brain":"grok"}]}`), 0o644))
	b := newTab(t, desktop, "light")
	b.open("file://" + dir + "/index.html")
	b.wantText("#phases > details:nth-child(1)", "build", "1/2")
	b.wantText("#phases > details:nth-child(2)", "review", "1/1")
	b.await(`document.querySelector('#worker-a').innerText.includes('1h 04m')`)
	b.wantText("#worker-a", "41 tools", "1 commit", "1.2M tokens", "go test ./...")
	b.do(chromedp.Click("#worker-a summary"))
	b.await(`document.querySelector('#worker-a .detail').innerText.includes('Keep orders')`)
	b.wantText("#worker-a .detail", "results/a.md", "exit status 1", "1,234,567", "$2.50")
}

// What fleet monitor writes is a page of its own: from the disk, and over any static server, events and briefs included (FF-77).
func TestPageOfMonitor(t *testing.T) {
	s := shop(t)
	out, err := exec.Command(fleetBin, "monitor", "--run-dir", s.dir.Path, "--out", s.dir.Path).CombinedOutput()
	if err != nil {
		t.Fatalf("fleet monitor: %v\n%s", err, out)
	}
	static := httptest.NewServer(http.FileServerFS(os.DirFS(s.dir.Path)))
	t.Cleanup(static.Close)
	for _, url := range []string{static.URL, "file://" + s.dir.Path + "/index.html"} {
		b := newTab(t, desktop, "light")
		b.expectFaults(`events/stream`) // a static server has none
		b.open(url)
		b.await(`byID('events').innerText.includes('DENIED pay/charge.go: WS06 (T7) holds it')`)
		b.wantText("#timeline", "WS06", "T7")
		b.wantText("#feed", "looks every 2.5 s")
		b.do(chromedp.Click("#worker-WS06 summary"))
		b.await(`document.querySelector('#worker-WS06 .detail').innerText.includes('Brief')`)
		if strings.HasPrefix(url, "http") {
			b.await(`document.querySelector('#worker-WS06 .detail').innerText.includes('Change nothing else.')`)
		}
	}
}

// Whatever a run is called is shown as text (FF-78).
func TestPageEscapes(t *testing.T) {
	hostile := []string{`<script>window.pwned=1</script>`, `"><img src=x onerror=window.pwned=1>`, `</title></textarea><svg onload=window.pwned=1>`, `javascript:window.pwned=1`, `__proto__`}
	var plans []plan
	for i, name := range hostile {
		plans = append(plans, plan{NewTask: roster.NewTask{ID: fmt.Sprintf("T%d", i+1), Title: name, Verify: name}, writes: []string{name + ".go"}, minutes: 60})
	}
	var workers cast
	for i := range hostile {
		workers = append(workers, [3]string{fmt.Sprintf("WS%02d", i+1), fmt.Sprintf("slot%d", i), "claude"})
	}
	s := newScene(t, "hostile", workers, plans)
	s.play(2)
	s.update(func(st *roster.State) error { return st.Block("WS01", hostile[1]) })
	b := openRun(t, s)
	b.await(`byID('events').innerText.includes('onerror')`)
	for _, worker := range workers {
		b.do(chromedp.Click("#worker-" + worker[0] + " summary"))
	}
	for i, name := range hostile {
		b.wantText(fmt.Sprintf("#worker-WS%02d", i+1), name)
		b.wantText("#files", name+".go")
	}
	b.wantText("#alerts", hostile[1])
	if made := eval[int](b, `document.querySelectorAll('img, script:not([src]), body script, textarea, svg svg').length`); made > 0 {
		t.Errorf("%d elements were made of names", made)
	}
	if eval[bool](b, `'pwned' in window`) {
		t.Error("a name was run")
	}
}

// No width makes the page scroll sideways, with few workers or many.
func TestPageFitsItsWidth(t *testing.T) {
	for name, s := range map[string]*scene{"shop": shop(t), "crowd": crowd(t, 200, 50)} {
		b := openRun(t, s)
		b.do(chromedp.Click(".card summary"))
		for _, width := range []int64{320, phone, 768, desktop, wide} {
			b.size(width)
			if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				t.Errorf("%s at %d: %d pixels too wide: %q", name, width, over, eval[[]string](b, `[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest('.well, #events')).map(e => e.tagName + '#' + e.id + '.' + e.className).slice(0, 5)`))
			}
		}
	}
}

// axe finds no fault, in light and dark, on a phone and a desktop.
func TestPageIsAccessible(t *testing.T) {
	s := shop(t)
	url := serve(t, s.dir).url()
	script, err := os.ReadFile(axeFile)
	check(t, err)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{phone, desktop} {
			b := newTab(t, width, scheme)
			b.open(url)
			b.await(`document.querySelector('#events li') !== null`)
			b.do(chromedp.Click("#worker-WS01 summary"), chromedp.Evaluate[chromedp.Void](string(script)+";0"))
			b.do(chromedp.Focus("#graph"), chromedp.KeyEvent("\u0303")) // ArrowRight
			found := eval[[]string](b, `axe.run().then(r => r.passes.length < 20 ? ['axe has looked at nothing'] : r.violations
				.map(v => v.id + ': ' + v.help + ': ' + v.nodes.map(n => n.html + ' ' + n.any.map(a => a.message).join()).slice(0, 4).join('\n  ')))`)
			for _, fault := range found {
				t.Errorf("%s, %d: %s", scheme, width, fault)
			}
		}
	}
}

// The graph can be walked by keyboard, and says what is known of a task.
func TestPageGraphByKeyboard(t *testing.T) {
	s := shop(t)
	b := openRun(t, s)
	press := func(key string) {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`byID('graph').dispatchEvent(new KeyboardEvent('keydown', { key: %q, bubbles: true }))`, key)))
	}
	b.do(chromedp.Focus("#graph"))
	press("ArrowRight")
	b.await(`byID('task').innerText.startsWith('T1 ')`)
	press("ArrowRight")
	b.await(`byID('task').innerText.startsWith('T2 ')`)
	b.wantText("#task", "succeeded", "After", "T1")
	press("Escape")
	b.await(`byID('task').hidden`)
}

// Of 200 workers and 10,000 events the page keeps the elements that it has, and makes only those that are seen.
func TestPageOfManyWorkers(t *testing.T) {
	s := crowd(t, 200, 10_000)
	b := openRun(t, s)
	b.await(`document.querySelector('#log .count').textContent.includes('10000')`)
	if rows := eval[int](b, `document.querySelectorAll('#events li').length`); rows == 0 || rows > 60 {
		t.Errorf("the log has %d elements", rows)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`window.cards = [...document.querySelectorAll('.card')]; byID('events').scrollTop = 5000 * 26`))
	b.await(`byID('events').innerText.includes('part/5000.go')`)
	s.update(func(st *roster.State) error { return st.Block("WS07", "what is a part?") })
	b.await(`document.querySelector('#worker-WS07').dataset.state === 'blocked'`)
	if !eval[bool](b, `cards.length === 200 && [...document.querySelectorAll('.card')].every((c, i) => c === cards[i])`) {
		t.Error("cards were made anew")
	}
	if !eval[bool](b, `byID('events').innerText.includes('part/5000.go')`) {
		t.Error("the log has moved away from where its reader was")
	}
	t.Logf("ms of script: %s", eval[string](b, `(async () => {
		const doc = await (await fetch('status.json')).json();
		const took = step => { const before = performance.now(); for (let i = 0; i < 5; i++) step(); return ((performance.now() - before) / 5).toFixed(1); };
		const parts = Object.entries({ workers, graph, files, timeline }).map(([name, part]) => name + ' ' + took(() => part.show(doc, Date.now)));
		let i = 0;
		return [...parts, 'second ' + took(() => { workers.tick(); timeline.tick(); }),
			'scroll ' + took(() => { byID('events').scrollTop = ++i * 26000; byID('events').dispatchEvent(new Event('scroll')); })].join(', ');
	})()`))
}
