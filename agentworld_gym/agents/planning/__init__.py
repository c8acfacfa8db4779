"""Planning in any world: searches over exact forks, as a policy that acts in the same world or in another one."""
