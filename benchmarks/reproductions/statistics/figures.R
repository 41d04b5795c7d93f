# Adds what R says of the data in a file of figures.py: Rscript figures.R FILE
suppressPackageStartupMessages({
  library(clubSandwich)
  library(jsonlite)
  library(survey)
})

file <- commandArgs(trailingOnly = TRUE)[1]
figures <- read_json(file)
as_numbers <- function(list) as.numeric(unlist(list))

figures$sources$R <- paste(R.version$major, R.version$minor, sep = ".")
figures$sources$clubSandwich <- as.character(packageVersion("clubSandwich"))
figures$sources$survey <- as.character(packageVersion("survey"))

figures$means <- lapply(figures$means, function(case) {
  data <- data.frame(
    value = as_numbers(case$values),
    count = as_numbers(case$counts),
    cluster = as_numbers(case$clusters)
  )
  fitted <- lm(value ~ 1, data)
  tested <- coef_test(fitted, vcov = "CR2", cluster = data$cluster, test = "Satterthwaite")
  interval <- conf_int(fitted, vcov = "CR2", cluster = data$cluster, test = "Satterthwaite")
  ratio <- svyratio(~value, ~count, svydesign(ids = ~cluster, weights = ~1, data = data))
  case$R <- list(
    cr2_error = tested$SE, degrees_of_freedom = tested$df, p_value = tested$p_Satt,
    low = interval$CI_L, high = interval$CI_U,
    ratio = as.numeric(coef(ratio)), ratio_error = as.numeric(SE(ratio))
  )
  case
})
figures$shares <- lapply(figures$shares, function(case) {
  ends <- suppressWarnings(prop.test(case$right, case$of, correct = FALSE))$conf.int
  case$R <- list(low = ends[1], high = ends[2])
  case
})
figures$mcnemar <- lapply(figures$mcnemar, function(case) {
  discordant <- case$first + case$second
  p_value <- if (discordant == 0) 1 else binom.test(case$first, discordant)$p.value
  case$R <- list(p_value = p_value)
  case
})
figures$holm <- lapply(figures$holm, function(case) {
  case$R <- I(p.adjust(as_numbers(case$p_values), "holm"))
  case
})
figures$cochran <- lapply(figures$cochran, function(case) {
  right <- do.call(rbind, lapply(case$right, as_numbers))
  found <- friedman.test(right)
  case$R <- list(statistic = as.numeric(found$statistic), p_value = found$p.value)
  case
})
write_json(figures, file, auto_unbox = TRUE, digits = NA)
