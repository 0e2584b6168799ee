package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// tokenCookie lets a browser read that was opened with the token in its address.
const tokenCookie = "fleet_token"

var headers = map[string]string{
	"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
}

// guard lets through what may be asked.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for k, v := range headers {
			w.Header().Set(k, v)
		}
		if r.Method == http.MethodGet && r.URL.Path == "/" && s.isToken(r.URL.Query().Get("token")) {
			http.SetCookie(w, &http.Cookie{Name: tokenCookie, Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if err := s.admit(r); err != nil {
			fail(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit refuses what a page of another site may have made a browser send: a name
// that leads here by a trick (DNS rebinding), or a request across origins. Then it asks for the token where one is needed.
func (s *Server) admit(r *http.Request) error {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	if s.local && !loopback(host) {
		return &httpError{http.StatusForbidden, "bad_host", r.Host + " is not an address of this machine alone", "use http://localhost or http://127.0.0.1"}
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return &httpError{http.StatusForbidden, "cross_origin", "a page of " + origin + " may not ask", ""}
		}
	}
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if cookie, err := r.Cookie(tokenCookie); err == nil && reads && !bearer {
		given = cookie.Value
	}
	if s.isToken(given) || reads && s.local {
		return nil
	}
	return &httpError{http.StatusUnauthorized, "no_token", "this needs the token of the server", "send Authorization: Bearer TOKEN, with the one that stands where the server was started"}
}

func (s *Server) isToken(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) == 1
}

// loopback reports whether a host is one that only this machine reaches.
func loopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
