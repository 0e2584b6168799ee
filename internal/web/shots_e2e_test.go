//go:build e2e

package web_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// The pictures of the page in docs, which "make screenshots" makes anew: small enough for a repository.
func TestScreenshots(t *testing.T) {
	dir := cmp.Or(os.Getenv("FLEET_SCREENSHOTS"), t.TempDir())
	url := serve(t, shop(t).dir).url()
	for name, look := range map[string]struct {
		width, height int64
		scheme        string
	}{
		"monitor-light.png": {1360, 1000, "light"},
		"monitor-dark.png":  {1360, 1000, "dark"},
	} {
		b := newTab(t, look.width, look.scheme)
		b.do(chromedp.EmulateViewport(look.width, look.height))
		b.media("prefers-reduced-motion", "reduce", "prefers-color-scheme", look.scheme)
		b.open(url)
		b.live()
		b.await(`document.querySelector('#events li') !== null`)
		shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		check(t, err)
		if len(shot) > 250<<10 {
			t.Errorf("%s has %d bytes", name, len(shot))
		}
		check(t, os.WriteFile(filepath.Join(dir, name), shot, 0o644))
	}
}
