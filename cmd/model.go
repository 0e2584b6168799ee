package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"fleet/internal/agent"
	"fleet/internal/doctor"
	"fleet/roster"
)

func newModel(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "model", GroupID: "agents",
		Short: "Keep brains of your own: another model, address or account",
		Long: `A profile is a brain that fleet has, with another model, service or account. Its name
is then good wherever a brain is named: fleet add, spawn, run --brain NAME. Profiles
are in your configuration dir. A key is never kept there: the profile says in which
variable it is, or which command prints it.`,
		Example: `  fleet model add work --base codex --model gpt-5.5 --key-env WORK_OPENAI_KEY
  fleet model add local --base claude --url http://localhost:8080 --key-command 'pass show local'
  fleet model test work
  fleet model default work       for the workstreams of runs to come`,
	}
	c.AddCommand(
		a.modelChange("add", "Make a profile", " --base codex --key-env WORK_OPENAI_KEY"),
		a.modelChange("edit", "Change what the flags name, and leave the rest", " --model gpt-6"),
		a.modelList(), a.modelRemove(), a.modelDefault(), a.modelTest(),
	)
	return c
}

// profileFlags are what flags can say of a profile.
func profileFlags(c *cobra.Command, p *agent.Profile) {
	f := c.Flags()
	f.StringVar(&p.Base, "base", "", "the brain that it is made from")
	f.StringVar(&p.Model, "model", "", "model, in the agent's own words")
	f.StringVar(&p.Effort, "effort", "", "how hard the model thinks, in the agent's own words")
	f.StringVar(&p.BaseURL, "url", "", "address of the service")
	f.StringToStringVar(&p.Env, "env", nil, "further variables, NAME=VALUE; none that is secret")
	f.StringArrayVar(&p.Args, "arg", nil, "a further argument; may be repeated")
	f.StringVar(&p.KeyEnv, "key-env", "", "the variable that has the key")
	f.StringVar(&p.KeyCmd, "key-command", "", "a shell command that prints the key")
}

// profileVerb changes the profiles. It is told where the one of the name is, -1 if there is none.
func (a *app) profileVerb(use, about, example string, change func(all []agent.Profile, at int, name string) ([]agent.Profile, error)) *cobra.Command {
	return &cobra.Command{
		Use: use + " <name>", Short: about, Example: "  fleet model " + use + " work" + example, Args: args(1, 1),
		RunE: a.forMaster(func(_ *cobra.Command, args []string) error {
			return agent.UpdateProfiles(func(all []agent.Profile) ([]agent.Profile, error) {
				at := slices.IndexFunc(all, func(p agent.Profile) bool { return p.Name == args[0] })
				if at < 0 && use != "add" && (use != "default" || args[0] != noProfile) {
					return nil, roster.Dataf("%s is no profile", args[0]).Hinted("fleet model ls lists them, fleet model add makes one")
				}
				return change(all, at, args[0])
			})
		}),
	}
}

// noProfile is the brain of new runs where no profile is the default.
const noProfile = "claude"

func (a *app) modelChange(verb, about, example string) *cobra.Command {
	var given agent.Profile
	c := a.profileVerb(verb, about, example, func(all []agent.Profile, at int, name string) ([]agent.Profile, error) {
		switch {
		case at < 0:
			at, all = len(all), append(all, agent.Profile{Name: name})
		case verb == "add":
			return nil, roster.Dataf("%s is there already", name)
		}
		all[at].Set(given)
		return all, all[at].Check()
	})
	profileFlags(c, &given)
	return c
}

func (a *app) modelList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the profiles", Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			all, err := agent.Profiles()
			if err != nil {
				return err
			}
			v := view{doc: all, header: []string{"NAME", "BASE", "MODEL", "URL", "KEY"}}
			for _, p := range all {
				key := orDash(p.KeyCmd)
				if p.KeyEnv != "" {
					key = "$" + p.KeyEnv
				}
				name := p.Name
				if p.Default {
					name += " (default)"
				}
				v.row(name, p.Base, orDash(p.Model), orDash(p.BaseURL), short(key, 40))
			}
			return v.print(a.out, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}

func (a *app) modelRemove() *cobra.Command {
	return a.profileVerb("rm", "Remove a profile", "", func(all []agent.Profile, at int, _ string) ([]agent.Profile, error) {
		return slices.Delete(all, at, at+1), nil
	})
}

func (a *app) modelDefault() *cobra.Command {
	return a.profileVerb("default", "Let new runs have a profile, or "+noProfile+" again", "", func(all []agent.Profile, at int, _ string) ([]agent.Profile, error) {
		for i := range all {
			all[i].Default = i == at
		}
		return all, nil
	})
}

func (a *app) modelTest() *cobra.Command {
	return &cobra.Command{
		Use: "test <brain>", Short: "Ask a brain for one word; exit 7 if none comes", Args: args(1, 1),
		Example: "  fleet model test work",
		RunE: a.forMaster(func(c *cobra.Command, args []string) error {
			b, err := agent.Find(args[0])
			if err == nil {
				err = b.Ready(c.Context())
			}
			if err != nil {
				return err
			}
			said, err := doctor.Ask(c.Context(), b)
			if err != nil {
				return &codedError{code: exitNoAnswer, msg: fmt.Sprintf("%s gave no answer: %v", b.Name, err)}
			}
			fmt.Fprintf(a.out, "%s answers: %s\n", b.Name, said)
			return nil
		}),
	}
}
