package web

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"fleet/roster"
)

// Another site's page may not read or write here: not by a name that leads to this machine, not across origins, not by a simple
// form. What writes needs the token, in a header that no such page can set.
func TestGuard(t *testing.T) {
	f := serve(t, nil)
	f.add("WS01")
	for _, c := range []struct {
		what, method, path string
		headers            []string
		status             int
		code               string
	}{
		{"rebinding", http.MethodGet, "/state", []string{"Host", "evil.example"}, 403, "bad_host"},
		{"rebinding with a port", http.MethodGet, "/state", []string{"Host", "evil.example:8099"}, 403, "bad_host"},
		{"a name that begins like ours", http.MethodGet, "/state", []string{"Host", "localhost.evil.example"}, 403, "bad_host"},
		{"another machine's address", http.MethodGet, "/state", []string{"Host", "192.0.2.1"}, 403, "bad_host"},
		{"another origin reads", http.MethodGet, "/state", []string{"Origin", "https://evil.example"}, 403, "cross_origin"},
		{"another port reads", http.MethodGet, "/state", []string{"Origin", "http://127.0.0.1:1"}, 403, "cross_origin"},
		{"a page without an origin", http.MethodGet, "/events/stream", []string{"Origin", "null"}, 403, "cross_origin"},
		{"another origin has the token", http.MethodPost, "/reset", append([]string{"Origin", "https://evil.example"}, mine...), 403, "cross_origin"},
		{"preflight", http.MethodOptions, "/tasks", []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, 403, "cross_origin"},
		{"no token", http.MethodPost, "/tasks/WS01/cancel", nil, 401, "no_token"},
		{"a wrong token", http.MethodPost, "/tasks/WS01/cancel", []string{"Authorization", "Bearer secre"}, 401, "no_token"},
		{"an empty token", http.MethodPost, "/tasks/WS01/cancel", []string{"Authorization", "Bearer "}, 401, "no_token"},
		{"another scheme", http.MethodPost, "/tasks/WS01/cancel", []string{"Authorization", "Basic secret"}, 401, "no_token"},
		{"a cookie writes", http.MethodPost, "/tasks/WS01/cancel", []string{"Cookie", "fleet_token=secret"}, 401, "no_token"},
		{"a token in the address writes", http.MethodPost, "/tasks/WS01/cancel?token=secret", nil, 401, "no_token"},
		{"a form", http.MethodPost, "/tasks", []string{"Content-Type", "text/plain"}, 401, "no_token"},
	} {
		resp, text := f.ask(c.method, c.path, "", c.headers...)
		wants(t, c.what, resp, text, c.status, c.code)
		if resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: CORS is open", c.what)
		}
	}
	if w, _ := f.fleet.Dir.Workstream(t.Context(), "WS01"); w.Status != roster.Pending || w.Epoch != 0 {
		t.Errorf("one of them came through: %+v", w)
	}
	for _, host := range []string{"localhost:1", "127.0.0.1", "[::1]:9", "LOCALHOST"} {
		if resp, text := f.ask(http.MethodGet, "/health", "", "Host", host); resp.StatusCode != http.StatusOK {
			t.Errorf("host %s: %s %s", host, resp.Status, text)
		}
	}
	if resp, _ := f.ask(http.MethodGet, "/health", "", "Origin", f.url); resp.StatusCode != http.StatusOK {
		t.Errorf("the own origin: %s", resp.Status)
	}
}

// All that is answered says that nothing foreign may be run, sniffed, framed or kept.
func TestHeaders(t *testing.T) {
	f := serve(t, nil)
	for _, path := range []string{"/", "/state", "/nothing"} {
		resp, _ := f.ask(http.MethodGet, path, "")
		for name, want := range headers {
			if got := resp.Header.Get(name); got != want || want == "" {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if csp := resp.Header.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.Contains(csp, "default-src 'none'") {
			t.Errorf("policy %q", csp)
		}
	}
}

// Where other machines reach the server, reading needs the token, too. A browser shows it once, in the address.
func TestGuardBeyondThisMachine(t *testing.T) {
	f := serve(t, nil, func(s *Server) { s.local = false })
	resp, text := f.ask(http.MethodGet, "/state", "", "Host", "build.example")
	wants(t, "no token", resp, text, http.StatusUnauthorized, "no_token")
	resp, text = f.ask(http.MethodGet, "/?token=guess", "")
	wants(t, "a wrong token", resp, text, http.StatusUnauthorized, "no_token")
	if resp, text = f.ask(http.MethodGet, "/state", "", append([]string{"Host", "build.example"}, mine...)...); resp.StatusCode != http.StatusOK {
		t.Errorf("with the token: %s %s", resp.Status, text)
	}
	resp, _ = f.ask(http.MethodGet, "/?token=secret", "")
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("the address with the token: %s %v", resp.Status, cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie %v can be read, or sent by others", c)
	}
	if resp, _ = f.ask(http.MethodGet, "/state", "", "Cookie", c.Name+"="+c.Value); resp.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: %s", resp.Status)
	}
}

// An address that others reach is refused without a token of the user's own.
func TestListen(t *testing.T) {
	for addr, kind := range map[string]roster.Kind{
		"0.0.0.0:0": roster.Refused, ":0": roster.Refused, "[::]:0": roster.Refused, "192.0.2.1:0": roster.Refused, "example.org:0": roster.Refused,
		"nonsense": roster.Usage, "": roster.Usage,
	} {
		if l, _, err := Listen(t.Context(), addr, false); roster.KindOf(err) != kind {
			t.Errorf("%q: %v, %v", addr, l, err)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "localhost:0", "127.1.2.3:0"} {
		l, local, err := Listen(t.Context(), addr, false)
		if err != nil || !local {
			t.Fatalf("%s: local %v, %v", addr, local, err)
		}
		if _, _, err := Listen(t.Context(), l.Addr().String(), false); roster.KindOf(err) != roster.Refused {
			t.Errorf("a port that is taken: %v", err)
		}
		l.Close()
	}
	l, local, err := Listen(t.Context(), "0.0.0.0:0", true)
	if err != nil || local {
		t.Fatalf("with a token: local %v, %v", local, err)
	}
	l.Close()
}

// One who sends a request a byte at a time, or opens connections and says nothing, loses them and keeps nobody from being answered.
func TestSlowLoris(t *testing.T) {
	f := serve(t, nil, func(s *Server) { s.patience = 100 * time.Millisecond })
	var slow []net.Conn
	for _, begun := range []string{"", "GET /sta", "POST /tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"} {
		for range 20 {
			c, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Write([]byte(begun)); err != nil {
				t.Fatal(err)
			}
			slow = append(slow, c)
		}
	}
	f.get("/health")
	for _, c := range slow { // the server closes each, and what it says before that doesn't matter
		for buf := make([]byte, 1000); ; {
			if _, err := c.Read(buf); err != nil {
				break
			}
		}
	}
	f.get("/health")
}
