package cmd

import (
	"fmt"
	"slices"
	"strings"

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
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.modelChange("add"), a.modelChange("edit"), a.modelList(), a.modelRemove(), a.modelDefault(), a.modelTest())
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

func (a *app) modelChange(verb string) *cobra.Command {
	var given agent.Profile
	c := &cobra.Command{Use: verb + " <name>", Short: "Make a profile", Args: args(1, 1), Example: "  fleet model add work --base codex --key-env WORK_OPENAI_KEY"}
	if verb == "edit" {
		c.Short, c.Example = "Change what the flags name, and leave the rest", "  fleet model edit work --model gpt-6"
	}
	profileFlags(c, &given)
	c.RunE = a.forMaster(func(_ *cobra.Command, args []string) error {
		return agent.UpdateProfiles(func(all []agent.Profile) ([]agent.Profile, error) {
			i := slices.IndexFunc(all, func(p agent.Profile) bool { return p.Name == args[0] })
			if (i < 0) != (verb == "add") {
				return nil, roster.Dataf("%s %s", args[0], map[bool]string{true: "is there already", false: "is no profile"}[i >= 0])
			}
			if i < 0 {
				i, all = len(all), append(all, agent.Profile{Name: args[0]})
			}
			all[i].Set(given)
			return all, all[i].Check()
		})
	})
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
				key := orDash(strings.TrimSpace("$" + p.KeyEnv))
				if p.KeyEnv == "" {
					key = orDash(p.KeyCmd)
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
	return &cobra.Command{
		Use: "rm <name>", Aliases: []string{"delete"}, Short: "Remove a profile", Args: args(1, 1), Example: "  fleet model rm work",
		RunE: a.forMaster(func(_ *cobra.Command, args []string) error {
			return agent.UpdateProfiles(func(all []agent.Profile) ([]agent.Profile, error) {
				kept := slices.DeleteFunc(slices.Clone(all), func(p agent.Profile) bool { return p.Name == args[0] })
				if len(kept) == len(all) {
					return nil, roster.Dataf("%s is no profile", args[0])
				}
				return kept, nil
			})
		}),
	}
}

func (a *app) modelDefault() *cobra.Command {
	return &cobra.Command{
		Use: "default [<name>]", Short: "Say which brain new runs get, or set it", Args: args(0, 1),
		Example: "  fleet model default work",
		RunE: a.forMaster(func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				fmt.Fprintln(a.out, agent.DefaultBrain())
				return nil
			}
			return agent.UpdateProfiles(func(all []agent.Profile) ([]agent.Profile, error) {
				found := args[0] == "claude" // what it is without profiles
				for i := range all {
					all[i].Default = all[i].Name == args[0]
					found = found || all[i].Default
				}
				if !found {
					return nil, roster.Dataf("%s is no profile", args[0]).Hinted("make one of it: fleet model add NAME --base %s", args[0])
				}
				return all, nil
			})
		}),
	}
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
