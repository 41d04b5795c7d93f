function themeButton() {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme
    || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const show = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  show();
}

// Draws a page, or shows the error in the page.
async function drawPage(draw) {
  themeButton();
  try {
    await draw();
    document.body.dataset.ready = "yes";
  } catch (error) {
    const problem = document.createElement("p");
    problem.className = "problem";
    problem.append(error.message);
    document.querySelector("main").replaceChildren(problem);
    document.body.dataset.ready = "no";
  }
}
