"""The words of `benchmarks.wide_schema`: what an enterprise keeps, and what people call it.

A thing is ``name | abbreviation | what it refers to | what it is called``: the name stands in the
names of tables, the others in comments and questions, and most things are called by words that
their names do not have.
"""

# ruff: noqa: E501  (one thing a line)

from __future__ import annotations

MODULES = {
    "sales": """
        order | ord | customer, product | customer order; purchase by a customer; client order
        quotation | quot | customer, product | offer to a customer; bid; proposal to a client
        return | ret | customer, product | goods sent back; customer return; returned merchandise
        rebate | rbt | customer | refund agreement; bonus paid to a buyer; retrospective discount
        commission | comm | employee | pay for salespeople; sales incentive; agent's share
        territory | terr | employee | sales region; area of a representative; sales district
        price_list | prl | product | list of selling prices; tariff; catalogue of prices""",
    "purchasing": """
        order | po | supplier, product | order placed with a supplier; procurement order; vendor order
        requisition | req | employee, product | purchase request; internal demand; shopping request
        tender | tnd | supplier | request for bids; call for offers; sourcing event
        contract | ctr | supplier | framework agreement; long-term deal with a vendor; outline contract
        receipt | rcp | supplier, product | goods received; incoming delivery; arrival of goods
        supplier_rating | srat | supplier | vendor score; assessment of suppliers; vendor performance
        invoice_check | ivc | supplier | verification of vendor bills; bill matching; invoice audit""",
    "warehouse": """
        stock | stk | product, site | inventory on hand; goods in store; quantity available
        movement | mov | product, site | transfer of goods; stock posting; relocation of material
        bin | bin | site | shelf; storage place; rack position
        count | cnt | product, site | stocktaking; physical inventory; cycle check
        pick | pck | product, employee | picking task; retrieval from the shelf; order picking
        pallet | plt | site | load carrier; handling unit; skid
        reservation | rsv | product | goods set aside; earmarked quantity; allocation of inventory""",
    "production": """
        order | prd | product, site | manufacturing job; production run; works order
        bill_of_material | bom | product | recipe; parts list; composition of an article
        routing | rtg | product, machine | sequence of operations; work plan; process steps
        shift | shf | site, employee | working period; crew schedule; turn of workers
        downtime | dtm | machine | stoppage; standstill of equipment; outage of a line
        scrap | scr | product, machine | waste; rejected output; material thrown away
        capacity | cap | machine | available hours; throughput limit; load of a work centre""",
    "quality": """
        inspection | insp | product | test of goods; check of a batch; control sample
        defect | def | product | fault; nonconformity; flaw found
        complaint | cmpl | customer, product | customer grievance; claim by a client; reported dissatisfaction
        audit | aud | site | examination of a process; review of compliance; formal assessment
        certificate | cert | supplier | attestation; proof of conformity; accreditation
        recall | rcl | product | withdrawal from the market; product callback; safety notice
        calibration | cal | machine | adjustment of gauges; measuring device check; instrument verification""",
    "maintenance": """
        order | mo | machine | repair job; service of equipment; overhaul task
        plan | mpl | machine | preventive schedule; service interval; upkeep programme
        spare_part | spp | product, machine | replacement component; repair item; wear part
        failure | flr | machine | breakdown; malfunction; technical fault
        warranty | wty | machine, supplier | guarantee; cover by the maker; guarantee claim
        meter_reading | mrd | machine | operating hours; counter value; usage measurement
        crew | crw | employee, site | repair team; group of mechanics; field technicians""",
    "logistics": """
        shipment | shp | customer, vehicle | consignment; dispatch of goods; outbound delivery
        route | rte | vehicle, site | itinerary; way of a truck; transport lane
        carrier | car | supplier | haulier; freight forwarder; transport company
        freight_rate | frt | carrier | transport price; cost of haulage; shipping tariff
        delay | dly | vehicle | late arrival; missed time slot; tardy transport
        customs_entry | cus | product | import declaration; duty filing; border clearance
        dock | dck | site | loading gate; ramp; bay for trucks""",
    "finance": """
        invoice | inv | customer | bill to a customer; receivable; amount charged
        payment | pay | account | money transfer; settlement; remittance
        journal | jrn | account | ledger entry; booking; accounting document
        budget | bud | cost_centre | planned spending; financial allowance; expenditure plan
        dunning | dun | customer | payment reminder; overdue notice; collection letter
        loan | loan | account | borrowed money; credit facility; debt to a bank
        tax_return | txr | account | fiscal declaration; levy statement; duty to the revenue office""",
    "personnel": """
        absence | abs | employee | leave; sick days; time off
        payroll | pyr | employee | wages; salary run; monthly earnings
        vacancy | vac | cost_centre | open position; job opening; unfilled post
        applicant | app | employee | candidate for a job; job seeker; person who applied
        training | trn | employee | course; schooling; further education
        appraisal | apr | employee | performance review; staff evaluation; annual interview
        timesheet | tms | employee | hours worked; attendance record; clocking""",
    "service": """
        ticket | tkt | customer | support request; helpdesk case; incident
        contract | sct | customer | maintenance agreement; care package; subscription of support
        visit | vis | customer, employee | field call; on-site appointment; technician's trip
        feedback | fbk | customer | survey answer; opinion of a client; satisfaction score
        escalation | esc | employee | raised issue; case passed upward; urgent handover
        knowledge_article | kba | product | help page; solution note; troubleshooting guide
        installation | ibs | customer, product | installed base; device at the client; commissioned unit""",
    "projects": """
        project | prj | customer | undertaking; engagement; assignment for a client
        milestone | mst | project | stage of an undertaking; key date; checkpoint
        task | tsk | employee | piece of work; activity; to-do
        risk | rsk | project | hazard; threat to an undertaking; possible loss
        resource | res | employee | staffing; person booked; workforce share
        change_request | chg | project | modification; altered scope; amendment
        expense | exp | employee | outlay; travel cost; reimbursable spending""",
    "assets": """
        building | bld | site | property; premises; real estate
        vehicle_lease | vls | vehicle | car rental; leased truck; fleet agreement
        depreciation | dep | account | write-down; loss of value; amortisation
        insurance | ins | account | policy cover; protection against damage; insured sum
        energy_use | eng | site | power consumption; electricity drawn; heating demand
        licence | lic | supplier | software right; permit to use; seat of a program
        disposal | dsp | account | scrapping of equipment; sale of old assets; retirement of property""",
    "marketing": """
        campaign | cmp | product | advertising effort; promotion drive; publicity action
        lead | lead | customer | prospect; potential buyer; interested party
        newsletter | nwl | customer | mailing; e-mail circular; subscriber message
        event | evt | site | trade fair; exhibition; conference
        coupon | cpn | product | voucher; discount code; money-off token
        segment | seg | customer | target group; cluster of buyers; audience
        survey | svy | customer | market research; questionnaire; poll""",
    "retail": """
        receipt | rcpt | product, site | till slip; checkout sale; cash register entry
        shelf_plan | shl | product, site | planogram; arrangement of goods; display layout
        loyalty_card | loy | customer | bonus card; membership points; frequent shopper
        markdown | mkd | product | price cut; clearance reduction; lowered price
        footfall | ftf | site | visitors counted; shoppers entering; traffic in a store
        shrinkage | shk | product, site | theft; lost goods; unexplained loss
        basket | bsk | product, customer | items bought together; shopping cart; combined purchase""",
    "planning": """
        forecast | fc | product | expected demand; predicted sales; outlook
        replenishment | rpl | product, site | refill of stores; resupply proposal; restocking
        safety_stock | sfs | product, site | buffer quantity; reserve level; minimum inventory
        lead_time | ldt | supplier, product | time to deliver; waiting period; days until arrival
        scenario | scn | product | what-if case; simulation run; alternative plan
        promotion_uplift | upl | product | extra demand by advertising; promotional effect; sales lift
        service_level | svl | product | availability goal; fill rate; target readiness""",
    "environment": """
        emission | emi | site | exhaust; carbon output; greenhouse gas
        waste_disposal | wst | site | rubbish removal; refuse collection; recycling
        water_use | wtr | site | consumption of water; water intake; effluent
        accident | acc | employee, site | injury; harm at work; safety incident
        hazardous_substance | haz | product | dangerous chemical; toxic material; regulated compound
        permit | prm | site | authority approval; operating licence; official consent
        noise | nse | site | sound level; loudness; acoustic measurement""",
}
MASTERS = """
    customer | cust | | client; buyer; account holder who orders
    supplier | supp | | vendor; source of goods; trading partner who delivers
    product | prod | | article; item; material
    employee | emp | | staff member; worker; person on the payroll
    site | loc | | plant; branch; location
    machine | mach | site | equipment; work centre; device
    vehicle | veh | site | truck; lorry; van
    account | acct | | ledger account; chart of accounts; general ledger
    cost_centre | cctr | | department; unit that spends; organisational cost unit"""
KINDS = """
    line | lin | one line for each article | positions; single items; lines
    schedule | schd | planned dates and quantities | planned dates; deadlines; timing
    status_log | stat | history of status changes | changes of state; progress; status
    price_condition | cond | prices, discounts and surcharges | discounts; surcharges; price terms
    approval | appr | who approved and when | sign-off; approvals; release
    attachment | attm | documents that are attached | attached documents; scanned papers; files
    note | nte | free text remarks | remarks; written comments; notes
    cost | cst | actual costs by type | actual costs; what it costs; spending
    target | tgt | goals by period | goals; what was aimed at; targets
    assignment | asgn | who is responsible | responsible people; who takes care; ownership
    category | cat | classification with groups | classification; group; kind
    metric | kpi | key figures by month | key figures; monthly indicators; measured results"""
ATTRIBUTES = """
    quantity | qty | how many units | number of units; amount
    net_amount | net_amt | value before tax | value before tax; net value
    gross_amount | grs_amt | value with tax | value including tax
    due_date | due_dt | last day to act | deadline; last day
    start_date | strt_dt | first day | beginning
    end_date | end_dt | last day | end
    priority | prio | how urgent it is | urgency
    weight | wgt | mass in kilograms | mass; heaviness
    volume | vol | space in cubic metres | space taken
    unit_price | u_prc | price of one unit | price of each
    discount_rate | disc_rt | share taken off | percentage off
    reason_code | rsn_cd | why it happened | cause; why
    currency_code | crcy | currency | currency
    valid_from | vld_fr | holds from this day | start of validity
    valid_to | vld_to | holds until this day | expiry
    reference_no | ref_no | number in the other system | foreign number
    description | dscr | what it is in words | wording
    region_code | rgn_cd | part of the country | part of the country
    risk_class | rsk_cl | how dangerous | danger
    hours | hrs | duration in hours | duration
    temperature | tmp | degrees | heat
    score | scr | points from 0 to 100 | points
    rate | rt | per cent | percentage
    distance | dist | kilometres | how far"""
COPIES = {
    "arc": "Archive of closed years",
    "stg": "Staging area of the nightly load",
    "bak": "",
    "hist": "History of changed rows",
    "old": "Taken over from the former system",
    "tmp": "",
    "rpt": "Extract for reports",
}
"""Copies of tables, by how their names end, with what their comments begin with; "" for none."""
